import type { RouteId } from '#core/request/index.ts';
import { bls, blsAccumulate } from './bls.ts';
import { ensemble } from './ensemble.ts';
import { generate } from './generate.ts';
import { llmapi } from './llmapi.ts';
import { openAiChat } from './openai-chat.ts';
import { openAiCompletions } from './openai-completions.ts';
import { raw } from './raw.ts';
import type { Route } from './types.ts';

export { curlOf } from './curl.ts';
export { loadedConfig } from './loaded-config.ts';
export { STOCK_MODELS, type Cancel, type Route, type RouteContext, type RunOptions } from './types.ts';

/** Every way through a target, by id. */
export const ROUTES: Readonly<Record<RouteId, Route>> = {
  raw,
  ensemble,
  bls,
  'bls-accumulate': blsAccumulate,
  llmapi,
  generate,
  'openai-completions': openAiCompletions,
  'openai-chat': openAiChat,
};
