import { useSyncExternalStore } from 'react';

/** The part of the page's address behind the `#`. */
export function useHash(): string {
  return useSyncExternalStore(listen, () => window.location.hash);
}

function listen(listener: () => void): () => void {
  window.addEventListener('hashchange', listener);
  return () => window.removeEventListener('hashchange', listener);
}

/** The link to a topic: `#/sensors/%7Bsensor%7D/temperature`. */
export function linkTo(address: string): string {
  return `#/${address.split('/').map(encodeURIComponent).join('/')}`;
}

/** Undefined: the address of the page names no topic. */
export function addressIn(hash: string): string | undefined {
  const path = hash.slice('#/'.length);
  if (!hash.startsWith('#/') || path === '') return undefined;
  try {
    return path.split('/').map(decodeURIComponent).join('/');
  } catch {
    return path;
  }
}
