export type { RunData } from './page-data.ts';
export { renderHtml, renderUpgradeHtml } from './render-html.ts';
