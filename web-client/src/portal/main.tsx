import './portal.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';

/** The address at the page's own node, if the page names no other. */
const DOCUMENT = '../api/v5/asyncapi.json';

followColours();
const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
const named = document.querySelector<HTMLMetaElement>('meta[name="apus-document"]')?.content;
createRoot(root).render(
  <StrictMode>
    <App documentUrl={new URL(named ?? DOCUMENT, document.baseURI).href} />
  </StrictMode>,
);

/** The colours that the visitor has chosen in the web client, where this browser has stored them. */
function followColours(): void {
  try {
    const scheme = localStorage.getItem('mantine-color-scheme-value');
    if (scheme === 'light' || scheme === 'dark') document.documentElement.style.colorScheme = scheme;
  } catch {
    // The browser denies the storage: the colours are those of the system.
  }
}
