// A name in as much room as there is: shortened in the middle, as both ends tell it from others; whole on hover.

/** Characters at the end that always stay. */
const END = 8;

export function Middle({ text, soft = false }: { text: string; soft?: boolean }) {
  const cut = Math.max(0, text.length - END);
  return (
    <span class={soft ? 'middle soft' : 'middle'} title={text.slice(0, 400)}>
      <span>{text.slice(0, cut)}</span>
      <span>{text.slice(cut)}</span>
    </span>
  );
}
