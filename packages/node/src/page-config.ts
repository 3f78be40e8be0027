import { MQTT_PATH } from './handshake.ts';

/** One way to connect, as the web client reads it from `config.json`. The host is the page's own. */
export interface PageEndpoint {
  readonly door: 'node' | 'gateway';
  /** Absent: the page's own port. */
  readonly port?: number;
  readonly path: string;
}

/** What the web client asks the broker that serves it: where its doors are. */
export interface PageConfig {
  readonly endpoints: readonly PageEndpoint[];
}

/** @param gatewayUrl of the gateway door, where there is one */
export function pageConfig(gatewayUrl: string | undefined): PageConfig {
  const node: PageEndpoint = { door: 'node', path: MQTT_PATH };
  if (gatewayUrl === undefined) return { endpoints: [node] };
  const { port, pathname } = new URL(gatewayUrl);
  return { endpoints: [node, { door: 'gateway', port: Number(port), path: pathname }] };
}
