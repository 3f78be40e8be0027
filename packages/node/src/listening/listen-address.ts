import { originProblem } from '@apus/door';
import { MQTT_PATH } from '../handshake.ts';
import { StartError } from '../start-error.ts';

/** Where clients connect beside `host` and `port`, and how. */
export interface ListenAddress {
  /** `tcp` and `tls` carry MQTT as it is, `ws` and `wss` WebSockets, the page and the HTTP API. */
  readonly scheme: Scheme;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Connections begin with a header of the PROXY protocol. */
  readonly hasProxyProtocol: boolean;
  /** A client without a verified certificate is cut. */
  readonly needsCertificate: boolean;
  /** Origins of web pages that may connect here. Empty: as at the other listeners. */
  readonly origins: readonly string[];
  /** Connections of this listener. Undefined: as many as the node takes. */
  readonly connectionsMax: number | undefined;
}

type Scheme = keyof typeof PORTS;

const PORTS = { tcp: 1883, tls: 8883, ws: 80, wss: 443 } as const;

const PARAMETERS = ['proxy-protocol', 'client-certificate', 'origin', 'connections-max'];

export function isTls({ scheme }: Pick<ListenAddress, 'scheme'>): boolean {
  return scheme === 'tls' || scheme === 'wss';
}

export function isHttp({ scheme }: Pick<ListenAddress, 'scheme'>): boolean {
  return scheme === 'ws' || scheme === 'wss';
}

/**
 * Reads `tcp://0.0.0.0:1883`, `wss://0.0.0.0:443/mqtt?origin=https://app.example&connections-max=500&proxy-protocol`.
 *
 * @throws {StartError} with what is wrong
 */
export function parseListenAddress(text: string): ListenAddress {
  const fail = (problem: string): never => {
    throw new StartError(`--listen ${text}: ${problem}.`);
  };
  const url = URL.canParse(text) ? new URL(text) : fail('it is an address as tcp://0.0.0.0:1883');
  const scheme = url.protocol.slice(0, -1) as Scheme;
  if (!Object.hasOwn(PORTS, scheme)) return fail(`it begins with ${Object.keys(PORTS).join('://, ')}://`);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (host === '') return fail('the address of this machine is missing, as 127.0.0.1 or 0.0.0.0');
  const paths = isHttp({ scheme }) ? ['', '/', MQTT_PATH] : ['', '/'];
  if (!paths.includes(url.pathname))
    return fail(isHttp({ scheme }) ? `MQTT over WebSocket is at ${MQTT_PATH}` : 'TCP has no path');
  const unknown = [...url.searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) return fail(`"${unknown}" is none of ${PARAMETERS.join(', ')}`);
  const origins = url.searchParams.getAll('origin');
  if (origins.length > 0 && !isHttp({ scheme })) return fail('only web pages have an origin');
  const problem = origins.map(originProblem).find((each) => each !== undefined);
  if (problem !== undefined) return fail(problem);
  const certificate = url.searchParams.get('client-certificate');
  if (certificate !== null && (certificate !== 'required' || !isTls({ scheme })))
    return fail('client-certificate=required is for addresses with TLS');
  const maximum = url.searchParams.get('connections-max');
  if (maximum !== null && !/^[1-9]\d{0,8}$/.test(maximum))
    return fail('connections-max is a number from 1 up');
  return {
    ...{ scheme, host, origins },
    port: url.port === '' ? PORTS[scheme] : Number(url.port),
    needsCertificate: certificate !== null,
    hasProxyProtocol: url.searchParams.has('proxy-protocol'),
    connectionsMax: maximum === null ? undefined : Number(maximum),
  };
}

/** The address as users type it, with the port that was taken. */
export function urlOf({ scheme, host }: ListenAddress, port: number): string {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return `${scheme}://${authority}${isHttp({ scheme }) ? MQTT_PATH : ''}`;
}
