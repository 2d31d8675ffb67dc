export { type Golden, type GoldenIndex, type Provenance } from './golden.ts';
export { openGoldenStore, type GoldenStore, type SaveResult, type StoreOptions } from './store.ts';
