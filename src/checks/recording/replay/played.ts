/** What became of one request to a server that replays. */
export type Played =
  | { readonly kind: 'whole'; readonly name: string }
  /** The client went away before the recording was over. */
  | { readonly kind: 'left'; readonly name: string; readonly sent: number; readonly of: number }
  /** The client stayed where the one that was recorded went away. */
  | { readonly kind: 'stayed'; readonly name: string }
  /** What was asked is in no recording. */
  | { readonly kind: 'missing'; readonly text: string };

/** What a player needs to know beside its script. */
export interface PlayOptions {
  /** Times as fast as it was recorded; Infinity: no waits. */
  readonly speed: number;
  /** How long a client may take to leave where the one that was recorded left. */
  readonly graceMs: number;
  readonly onPlayed: (played: Played) => void;
}

export const STAYED = 'the client that was recorded left here, so nothing more is known of this answer';
