import { nothingIsFound } from './controls.ts';

nothingIsFound();
