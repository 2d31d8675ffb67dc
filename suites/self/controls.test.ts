import { controls, nothingIsFound } from './controls.ts';

nothingIsFound();
controls();
