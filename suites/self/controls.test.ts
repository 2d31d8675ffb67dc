import { controls } from './controls.ts';

controls();
