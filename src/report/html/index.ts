export type { PageData } from './page-data.ts';
export { renderHtml } from './render-html.ts';
