// Finds ranks, functions and call sites by what they are called, and moments by their time.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Model } from './model';

interface Found {
  text: string;
  hint: string;
  go: () => void;
}

/** `1.5s`, `20ms`, `300us`, `7 ns` in nanoseconds. */
export function parseTime(text: string): number | null {
  const found = /^\s*(\d+(?:\.\d+)?)\s*(s|ms|us|µs|ns)\s*$/.exec(text);
  if (!found) return null;
  const unit = { s: 1e9, ms: 1e6, us: 1e3, µs: 1e3, ns: 1 }[found[2] as 's'];
  return Number(found[1]) * unit;
}

export function Search({ model, reveal, close }: { model: Model; reveal: (rank: number) => void; close: () => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current!.focus(), []);
  const found = useMemo(() => find(model, text.trim(), reveal), [model, text]);
  const take = (result: Found | undefined) => {
    if (!result) return;
    result.go();
    close();
  };
  return (
    <div class="veil" onClick={close}>
      <div class="search" role="dialog" aria-label="search" onClick={(event) => event.stopPropagation()}>
        <input
          ref={input}
          type="text"
          value={text}
          placeholder="rank 12, MPI_Waitall, stencil.c:80, 1.5s"
          aria-label="search for a rank, function, call site or time"
          data-testid="search"
          onInput={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={(event) => {
            if (event.key === 'Escape') close();
            else if (event.key === 'Enter') take(found[at]);
            else if (event.key === 'ArrowDown') setAt(Math.min(found.length - 1, at + 1));
            else if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1));
            else return;
            event.preventDefault();
            event.stopPropagation();
          }}
        />
        <ul>
          {found.map((result, i) => (
            <li key={i}>
              <button class={i === at ? 'on' : ''} onClick={() => take(result)}>
                <span>{result.text}</span> <span class="soft">{result.hint}</span>
              </button>
            </li>
          ))}
          {text && found.length === 0 && <li class="soft nothing">No match. Enter a rank number, a function, a call site, or a time with a unit (1.5s, 20ms).</li>}
        </ul>
      </div>
    </div>
  );
}

function find(model: Model, text: string, reveal: (rank: number) => void): Found[] {
  if (!text) return [];
  const s = model.store.get();
  const layer = model.layer(s.layer);
  const found: Found[] = [];
  const rank = /^(?:rank\s*)?(\d+)$/i.exec(text);
  if (rank && Number(rank[1]) < layer.ranks) {
    const n = Number(rank[1]);
    found.push({
      text: `rank ${n}`,
      hint: 'select it and show its row',
      go: () => {
        model.store.set({ ranks: [[n, n]] });
        reveal(n);
      },
    });
  }
  const time = parseTime(text);
  if (time !== null && time <= layer.span_ns) {
    const half = (s.window.to - s.window.from) / 8;
    found.push({ text, hint: 'go to this time', go: () => model.store.set({ window: { from: time - half, to: time + half } }) });
  }
  const wanted = text.toLowerCase();
  for (const name of model.used.map((op) => model.opName(op))) {
    if (found.length > 40 || !name.toLowerCase().includes(wanted)) continue;
    found.push({ text: name.slice(0, 80), hint: 'show its time in the tree', go: () => model.store.set({ panel: 'tree' }) });
  }
  for (const site of layer.callsites) {
    if (found.length > 40) break;
    const place = model.siteName(site.id);
    if (!place.toLowerCase().includes(wanted) && !(site.function ?? '').toLowerCase().includes(wanted)) continue;
    found.push({ text: place.slice(0, 80), hint: `call site in ${(site.function ?? 'unknown').slice(0, 60)}`, go: () => model.store.set({ sites: [site.id], panel: 'tree' }) });
  }
  return found.slice(0, 12);
}
