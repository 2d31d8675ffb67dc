import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { visibleText } from './visible.tsx';

const TOLD_MS = 1500;

/** One click and the text is in the clipboard; the button says so, to a screen reader too. */
export function Copy({ label, text }: { readonly label: string; readonly text: string }): JSX.Element {
  const [state, setState] = useState<'' | 'copied' | 'failed'>('');
  const copy = async () => {
    setState((await written(text)) ? 'copied' : 'failed');
    setTimeout(() => setState(''), TOLD_MS);
  };
  const told = { '': `Copy ${label}`, copied: 'Copied', failed: 'Not copied' }[state];
  return (
    <button type="button" class="copy" data-copy={text} title={visibleText(text)} onClick={() => void copy()}>
      <span aria-live="polite">{told}</span>
    </button>
  );
}

/** A page opened from a file may have no clipboard of its own; a selection in a text field is copied everywhere. */
async function written(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    const focused = document.activeElement;
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return done;
  }
}
