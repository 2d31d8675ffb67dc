/** What passes on one call, told as it passes. Bytes are those of the transport: who keeps them changes nothing of them. */
export type CallEvent =
  | { readonly kind: 'request'; readonly method?: string; readonly path: string; readonly headers: readonly (readonly [string, string])[] }
  | { readonly kind: 'message'; readonly from: 'client' | 'server'; readonly bytes: Buffer }
  | { readonly kind: 'body'; readonly from: 'client' | 'server'; readonly bytes: Buffer }
  | { readonly kind: 'end'; readonly from: 'client' | 'server' }
  | { readonly kind: 'response'; readonly status?: number; readonly headers: readonly (readonly [string, string])[] }
  | { readonly kind: 'trailers'; readonly headers: readonly (readonly [string, string])[] }
  | { readonly kind: 'reset'; readonly from: 'client' | 'server'; readonly code: string }
  | { readonly kind: 'close'; readonly from: 'client' | 'server' };

export type CallTap = (event: CallEvent) => void;
