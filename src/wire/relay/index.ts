export { type Relay, type RelayOptions, type RelaySide, type Tap, type TapEvent, startRelay } from './relay.ts';
