/** `/` to the filter, `j` and `k` from cause to cause; everything else is the browser's own. */
import { useEffect } from 'preact/hooks';

export function useKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || target.matches('input, textarea')) return;
      if (event.key === '/') {
        event.preventDefault();
        document.getElementById('filter')?.focus();
      } else if (event.key === 'j' || event.key === 'k') {
        toCause(event.key === 'j' ? 1 : -1);
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

function toCause(by: 1 | -1): void {
  const causes = [...document.querySelectorAll<HTMLElement>('.cause')];
  const at = causes.findIndex((cause) => cause.contains(document.activeElement));
  const next = causes[Math.max(0, Math.min(causes.length - 1, at < 0 ? 0 : at + by))];
  next?.querySelector('summary')?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}
