import './portal.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';

/** The address at the page's own node, if the page names no other. */
const DOCUMENT = '../api/v5/asyncapi.json';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
const named = document.querySelector<HTMLMetaElement>('meta[name="apus-document"]')?.content;
createRoot(root).render(
  <StrictMode>
    <App documentUrl={new URL(named ?? DOCUMENT, document.baseURI).href} />
  </StrictMode>,
);
