import { API_PATH } from '@apus/api';
import type { ApiAccess } from './api/access.ts';
import { MQTT_PATH } from './handshake.ts';

/** One way to connect, as the web client reads it from `config.json`. The host is the page's own. */
export interface PageEndpoint {
  readonly door: 'node' | 'gateway';
  /** Absent: the page's own port. */
  readonly port?: number;
  readonly path: string;
  /** For the page: MQTT 3.1.1 has no property that tells clients of it. */
  readonly maximumPacketSizeBytes: number;
}

/** A gateway door as the page is told of it. */
export interface PageGateway {
  readonly url: string;
  readonly maximumPacketSizeBytes: number;
}

/**
 * The configuration that the broker serves to the web client: the addresses of its doors, and the access to its API.
 */
export interface PageConfig {
  readonly endpoints: readonly PageEndpoint[];
  readonly api: { readonly path: string; readonly access: ApiAccess['mode']; readonly tenants?: true };
  /** The page for developers is served beside the web client. */
  readonly portal?: true;
}

/**
 * @param maximumPacketSizeBytes of the node door
 * @param gateway the gateway door, where there is one
 * @param hasTenants whether the node keeps a register of tenants
 * @param hasPortal whether topics are described to developers
 */
export function pageConfig(
  maximumPacketSizeBytes: number,
  gateway: PageGateway | undefined,
  access: ApiAccess['mode'],
  hasTenants: boolean,
  hasPortal: boolean,
): PageConfig {
  const endpoints: PageEndpoint[] = [{ door: 'node', path: MQTT_PATH, maximumPacketSizeBytes }];
  if (gateway !== undefined) {
    const { port, pathname: path } = new URL(gateway.url);
    const { maximumPacketSizeBytes: bytesMax } = gateway;
    endpoints.push({ door: 'gateway', port: Number(port), path, maximumPacketSizeBytes: bytesMax });
  }
  return {
    endpoints,
    api: { path: API_PATH, access, ...(hasTenants && { tenants: true }) },
    ...(hasPortal && { portal: true }),
  };
}
