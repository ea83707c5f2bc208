// Puts pictures and boxes on a canvas: with WebGL2, or without where there is none (no GPU, a lost context).
// Both draw the same pixels; neither knows what they mean.
import type { Pixels } from './colours';
import type { Placed } from './tiles';

export interface Boxes {
  n: number;
  /** x0, y0, x1, y1 in pixels. */
  rects: Float32Array;
  /** red, green, blue, alpha. */
  colours: Uint8Array;
}
export interface Painter {
  readonly name: 'webgl2' | 'canvas';
  readonly canvas: HTMLCanvasElement;
  resize(width: number, height: number, ratio: number): void;
  begin(background: string): void;
  picture(key: string, pixels: () => Pixels, place: Placed): void;
  boxes(boxes: Boxes): void;
  forget(key: string | null): void;
}

export function makePainter(canvas: HTMLCanvasElement, plain: boolean): Painter {
  if (!plain) {
    const gl = canvas.getContext('webgl2', { alpha: false, antialias: false, desynchronized: false });
    if (gl) return new GlPainter(canvas, gl);
  }
  return new CanvasPainter(canvas);
}

class CanvasPainter implements Painter {
  readonly name = 'canvas';
  private readonly context: CanvasRenderingContext2D;
  private readonly pictures = new Map<string, { image: HTMLCanvasElement; perRow: number }>();
  private width = 0;
  private height = 0;
  constructor(readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext('2d', { alpha: false })!;
  }
  resize(width: number, height: number, ratio: number): void {
    this.width = width;
    this.height = height;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.imageSmoothingEnabled = false;
  }
  begin(background: string): void {
    this.context.fillStyle = background;
    this.context.fillRect(0, 0, this.width, this.height);
  }
  picture(key: string, pixels: () => Pixels, { source, target }: Placed): void {
    let picture = this.pictures.get(key);
    if (!picture) {
      const made = pixels();
      const image = document.createElement('canvas');
      image.width = made.width;
      image.height = made.height;
      image.getContext('2d')!.putImageData(new ImageData(made.data, made.width, made.height), 0, 0);
      picture = { image, perRow: made.perRow };
      this.pictures.set(key, picture);
    }
    const { image, perRow } = picture;
    this.context.drawImage(
      image,
      source.x0,
      source.y0 * perRow,
      source.x1 - source.x0,
      (source.y1 - source.y0) * perRow,
      target.x0,
      target.y0,
      target.x1 - target.x0,
      target.y1 - target.y0,
    );
  }
  boxes({ n, rects, colours }: Boxes): void {
    for (let i = 0; i < n; i++) {
      const c = i * 4;
      this.context.fillStyle = `rgb(${colours[c]} ${colours[c + 1]} ${colours[c + 2]} / ${colours[c + 3]! / 255})`;
      this.context.fillRect(rects[c]!, rects[c + 1]!, rects[c + 2]! - rects[c]!, rects[c + 3]! - rects[c + 1]!);
    }
  }
  forget(key: string | null): void {
    if (key === null) this.pictures.clear();
    else this.pictures.delete(key);
  }
}

const BOX_VERTEX = `#version 300 es
in vec2 corner; in vec4 rect; in vec4 colour; uniform vec2 size; out vec4 shade;
void main() { vec2 p = mix(rect.xy, rect.zw, corner) / size; gl_Position = vec4(p.x * 2.0 - 1.0, 1.0 - p.y * 2.0, 0.0, 1.0); shade = colour; }`;
const BOX_FRAGMENT = `#version 300 es
precision mediump float; in vec4 shade; out vec4 pixel;
void main() { pixel = vec4(shade.rgb * shade.a, shade.a); }`;
const PICTURE_VERTEX = `#version 300 es
in vec2 corner; uniform vec4 target; uniform vec4 source; uniform vec2 size; out vec2 at;
void main() { vec2 p = mix(target.xy, target.zw, corner) / size; at = mix(source.xy, source.zw, corner); gl_Position = vec4(p.x * 2.0 - 1.0, 1.0 - p.y * 2.0, 0.0, 1.0); }`;
const PICTURE_FRAGMENT = `#version 300 es
precision highp float; in vec2 at; uniform sampler2D image; out vec4 pixel;
void main() { pixel = texture(image, at); }`;

class GlPainter implements Painter {
  readonly name = 'webgl2';
  private readonly boxProgram: WebGLProgram;
  private readonly pictureProgram: WebGLProgram;
  private readonly pictures = new Map<string, { texture: WebGLTexture; width: number; height: number; perRow: number }>();
  private readonly pictureArray: WebGLVertexArrayObject;
  private readonly boxArray: WebGLVertexArrayObject;
  private readonly rectBuffer: WebGLBuffer;
  private readonly colourBuffer: WebGLBuffer;
  private readonly places: Record<'target' | 'source' | 'pictureSize' | 'boxSize', WebGLUniformLocation | null>;
  private width = 1;
  private height = 1;

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly gl: WebGL2RenderingContext,
  ) {
    this.boxProgram = this.program(BOX_VERTEX, BOX_FRAGMENT);
    this.pictureProgram = this.program(PICTURE_VERTEX, PICTURE_FRAGMENT);
    this.places = {
      target: gl.getUniformLocation(this.pictureProgram, 'target'),
      source: gl.getUniformLocation(this.pictureProgram, 'source'),
      pictureSize: gl.getUniformLocation(this.pictureProgram, 'size'),
      boxSize: gl.getUniformLocation(this.boxProgram, 'size'),
    };
    const corners = this.buffer();
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([0, 0, 1, 0, 0, 1, 1, 1]), gl.STATIC_DRAW);
    this.pictureArray = gl.createVertexArray();
    gl.bindVertexArray(this.pictureArray);
    this.attribute(this.pictureProgram, 'corner', corners, 2, gl.FLOAT, 0);
    this.boxArray = gl.createVertexArray();
    gl.bindVertexArray(this.boxArray);
    this.attribute(this.boxProgram, 'corner', corners, 2, gl.FLOAT, 0);
    this.rectBuffer = this.buffer();
    this.attribute(this.boxProgram, 'rect', this.rectBuffer, 4, gl.FLOAT, 1);
    this.colourBuffer = this.buffer();
    this.attribute(this.boxProgram, 'colour', this.colourBuffer, 4, gl.UNSIGNED_BYTE, 1);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }
  private program(vertex: string, fragment: string): WebGLProgram {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, source] of [
      [gl.VERTEX_SHADER, vertex],
      [gl.FRAGMENT_SHADER, fragment],
    ] as const) {
      const shader = gl.createShader(kind)!;
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    return program;
  }
  private buffer(): WebGLBuffer {
    const buffer = this.gl.createBuffer();
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, buffer);
    return buffer;
  }
  private attribute(program: WebGLProgram, name: string, buffer: WebGLBuffer, size: number, type: number, divisor: number): void {
    const { gl } = this;
    const place = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, type, type === gl.UNSIGNED_BYTE, 0, 0);
    gl.vertexAttribDivisor(place, divisor);
  }
  resize(width: number, height: number, ratio: number): void {
    this.width = width;
    this.height = height;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.gl.viewport(0, 0, this.canvas.width, this.canvas.height);
  }
  begin(background: string): void {
    const { gl } = this;
    // #rgb or #rrggbb: style sheets are made shorter when they are built.
    const long = background.length === 4 ? background.replace(/[0-9a-f]/gi, '$&$&') : background;
    const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => parseInt(long.slice(at, at + 2), 16) / 255);
    gl.clearColor(r, g, b, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
  }
  picture(key: string, pixels: () => Pixels, { source, target }: Placed): void {
    const { gl } = this;
    let picture = this.pictures.get(key);
    if (!picture) {
      const made = pixels();
      const texture = gl.createTexture();
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, made.width, made.height, 0, gl.RGBA, gl.UNSIGNED_BYTE, made.data);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
      picture = { texture, width: made.width, height: made.height, perRow: made.perRow };
      this.pictures.set(key, picture);
    }
    const { texture, width, height, perRow } = picture;
    gl.useProgram(this.pictureProgram);
    gl.bindVertexArray(this.pictureArray);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.uniform2f(this.places.pictureSize, this.width, this.height);
    gl.uniform4f(this.places.target, target.x0, target.y0, target.x1, target.y1);
    gl.uniform4f(this.places.source, source.x0 / width, (source.y0 * perRow) / height, source.x1 / width, (source.y1 * perRow) / height);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }
  boxes({ n, rects, colours }: Boxes): void {
    if (n === 0) return;
    const { gl } = this;
    gl.useProgram(this.boxProgram);
    gl.bindVertexArray(this.boxArray);
    gl.uniform2f(this.places.boxSize, this.width, this.height);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.rectBuffer);
    gl.bufferData(gl.ARRAY_BUFFER, rects.subarray(0, n * 4), gl.STREAM_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.colourBuffer);
    gl.bufferData(gl.ARRAY_BUFFER, colours.subarray(0, n * 4), gl.STREAM_DRAW);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, n);
  }
  forget(key: string | null): void {
    for (const [name, { texture }] of key === null ? [...this.pictures] : [...this.pictures].filter(([name]) => name === key)) {
      this.gl.deleteTexture(texture);
      this.pictures.delete(name);
    }
  }
}
