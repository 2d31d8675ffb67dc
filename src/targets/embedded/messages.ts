/** What the embedded server's process sends once over its IPC channel. It ends by itself when the channel closes. */
import { z } from 'zod';

export const READY_MESSAGE = z.union([
  z.object({
    ready: z.literal(true),
    endpoints: z.object({ grpc: z.string(), http: z.string(), metrics: z.string().optional(), openai: z.string().optional() }),
    identity: z.record(z.string(), z.string()),
  }),
  z.object({ ready: z.literal(false), error: z.object({ code: z.string(), message: z.string(), hint: z.string().optional() }) }),
]);

export type ReadyMessage = z.infer<typeof READY_MESSAGE>;
