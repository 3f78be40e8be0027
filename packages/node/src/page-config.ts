import type { ApiAccess } from './api/access.ts';
import { API_PATH } from './api/router.ts';
import { MQTT_PATH } from './handshake.ts';

/** One way to connect, as the web client reads it from `config.json`. The host is the page's own. */
export interface PageEndpoint {
  readonly door: 'node' | 'gateway';
  /** Absent: the page's own port. */
  readonly port?: number;
  readonly path: string;
}

/** What the web client asks the broker that serves it: where its doors are, and who may use its API. */
export interface PageConfig {
  readonly endpoints: readonly PageEndpoint[];
  readonly api: { readonly path: string; readonly access: ApiAccess['mode'] };
}

/** @param gatewayUrl of the gateway door, where there is one */
export function pageConfig(gatewayUrl: string | undefined, access: ApiAccess['mode']): PageConfig {
  const node: PageEndpoint = { door: 'node', path: MQTT_PATH };
  const api = { path: API_PATH, access };
  if (gatewayUrl === undefined) return { endpoints: [node], api };
  const { port, pathname } = new URL(gatewayUrl);
  return { endpoints: [node, { door: 'gateway', port: Number(port), path: pathname }], api };
}
