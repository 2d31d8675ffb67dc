import type { Case, RouteId } from '#core/request/index.ts';
import type { InferRequest } from '#wire/clients/index.ts';
import { decodeBytesElements, fp32Values, int32Values, type Tensor } from '#wire/protocol/tensors.ts';
import { generateBody, ensembleRequest } from './ensemble-request.ts';
import { llmapiRequest } from './llmapi-request.ts';
import { openAiBody } from './openai-request.ts';
import { promptIds, promptText } from './prompt.ts';
import { rawRequest } from './raw-request.ts';
import type { RouteContext } from './types.ts';

/** Base URLs without a slash at their end. */
export interface CurlEndpoints {
  readonly http: string;
  readonly openai: string;
}

type AskedBy = Pick<RouteContext, 'tokenizer' | 'profile' | 'models'>;

/**
 * A command that asks the same by hand. The models that are asked over gRPC take the same inputs through Triton's
 * generate endpoints, which curl can speak; undefined for what JSON cannot carry there (lists of lists: stop words of raw).
 */
export function curlOf(c: Case, context: AskedBy, endpoints: CurlEndpoints): string | undefined {
  const asked = asks(c, context as RouteContext);
  if (asked === undefined) return undefined;
  const openai = c.route.startsWith('openai');
  const url = `${openai ? endpoints.openai : endpoints.http}${asked.path}`;
  const body = JSON.stringify(asked.body).replaceAll("'", "'\\''");
  return `curl -sN ${url} -H 'content-type: application/json' -d '${body}'`;
}

function asks(c: Case, context: RouteContext): { readonly path: string; readonly body: unknown } | undefined {
  const { tokenizer, models } = context;
  const options = { deadlineMs: 0 };
  const verb = c.mode === 'stream' ? 'generate_stream' : 'generate';
  const { prompt } = c.request;
  const text = () => promptText(prompt, tokenizer);
  const generate = (request: InferRequest) => {
    const body = jsonOf(request);
    return body === undefined ? undefined : { path: `/v2/models/${request.model}/${verb}`, body };
  };
  const byRoute: Readonly<Record<RouteId, () => ReturnType<typeof asks>>> = {
    raw: () => generate(rawRequest(c, '', promptIds(prompt, tokenizer), context, options)),
    ensemble: () => generate(ensembleRequest(c, '', text(), context, options)),
    bls: () => generate(ensembleRequest(c, '', text(), context, options)),
    'bls-accumulate': () => generate(ensembleRequest(c, '', text(), context, options)),
    llmapi: () => generate(llmapiRequest(c, '', text(), models.llmapi)),
    generate: () => {
      const { id: _id, ...body } = generateBody(c, '', text(), context, options);
      return { path: `/v2/models/${models.ensemble}/${verb}`, body };
    },
    'openai-completions': () => ({ path: '/v1/completions', body: { prompt: text(), ...openAiBody(c, context) } }),
    'openai-chat': () => ({
      path: '/v1/chat/completions',
      body: { messages: prompt.kind === 'messages' ? prompt.messages : [], ...openAiBody(c, context) },
    }),
  };
  return byRoute[c.route]();
}

/** Of generate's JSON one element is a bare value, several are a list. */
function jsonOf({ inputs }: InferRequest): Readonly<Record<string, unknown>> | undefined {
  const members: [string, unknown][] = [];
  for (const tensor of inputs) {
    const values = valuesOf(tensor);
    if (values === undefined || tensor.shape.length > 2) return undefined;
    members.push([tensor.name, values.length === 1 ? values[0] : values]);
  }
  return Object.fromEntries(members);
}

function valuesOf({ datatype, data }: Tensor): readonly unknown[] | undefined {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  switch (datatype) {
    case 'INT32':
      return Array.from(int32Values(data));
    case 'FP32':
      return Array.from(fp32Values(data), (value) => Number(value.toPrecision(7)));
    case 'BOOL':
      return Array.from(data, (byte) => byte !== 0);
    case 'UINT64':
      return Array.from({ length: data.byteLength / 8 }, (_, i) => Number(view.getBigUint64(i * 8, true)));
    case 'BYTES':
      return decodeBytesElements(data).map((bytes) => new TextDecoder().decode(bytes));
    default:
      return undefined;
  }
}
