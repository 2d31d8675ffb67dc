import { render } from 'preact';
import type { PageData } from '../page-data.ts';
import { App } from './app.tsx';
import { UpgradePage } from './upgrade.tsx';
import './style.css';

const data = JSON.parse(document.getElementById('data')?.textContent ?? '') as PageData;
const root = document.getElementById('app');
if (root !== null) {
  root.textContent = '';
  render('upgrade' in data ? <UpgradePage upgrade={data.upgrade} /> : <App data={data} />, root);
}
