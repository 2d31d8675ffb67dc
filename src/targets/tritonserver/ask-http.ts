import { request } from 'node:http';

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** One small request on a connection of its own: nothing is left open that a stopping server would have to wait for. */
export async function askHttp(url: string, method: 'GET' | 'POST', signal: AbortSignal, content = '{}'): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    // Content-Type always: without it tritonserver 2.51 parses a body as a form, and dies of a large one.
    const headers = method === 'POST' ? { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(content)) } : {};
    const call = request(url, { method, agent: false, signal, headers }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      response.on('error', reject);
    });
    call.on('error', reject);
    call.end(method === 'POST' ? content : undefined);
  });
}
