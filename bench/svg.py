"""Plots as SVG files, made of shapes that were written as text."""


def write(path, width, height, shapes):
    body = "\n".join(shapes)
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">\n{body}\n</svg>\n'
    )
