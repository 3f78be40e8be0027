/** The error in an address that cannot be opened, and the address that was probably meant. */
export interface UrlHelp {
  readonly reason: 'tcp' | 'web' | 'bare';
  /** The scheme of the address, such as `mqtt`. */
  readonly scheme: string;
  readonly url: string;
}

/** The usual WebSocket port of brokers that listen for TCP at this port. Apus and EMQX use them by default. */
const WEBSOCKET_PORTS: Readonly<Record<string, string>> = { '1883': '8083', '8883': '8084' };

/** Ports that usually use TLS. */
const SECURE_PORTS = new Set(['443', '8084', '8443', '8883']);

const MQTT_PATH = '/mqtt';

const TCP_SCHEMES: Readonly<Record<string, boolean>> = {
  mqtt: false,
  tcp: false,
  mqtts: true,
  ssl: true,
  tls: true,
};
const WEB_SCHEMES: Readonly<Record<string, boolean>> = { http: false, https: true };

const ADDRESS =
  /^(?:(?<scheme>[a-z][a-z0-9+.-]*):\/\/)?(?<user>[^/?#@]*@)?(?<host>[^/?#]+)(?<rest>[/?#].*)?$/i;

/** A host name with dots, or with a port if it is this machine: a partly typed word is none. */
const HOST =
  /^(?:localhost|[a-z0-9-]+(?:\.[a-z0-9-]+)+|\[[0-9a-f:.]+\]|[a-z0-9-]+(?=:\d))(?::(?<port>\d{1,5}))?$/i;

/** Machines in the local network: they seldom have a certificate. */
const NEAR =
  /^(?:localhost|127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|\[::1\]|\[f[cd]|[^.]+$|.*\.local$)/i;

const THIS_MACHINE = /^(?:localhost|127\.|\[::1\])/i;

/**
 * @param text the content of the URL field
 * @param isPageSecure whether the page came by HTTPS: then a browser only opens wss://, except for its own machine
 * @returns undefined if the address needs no help
 */
export function urlHelp(text: string, isPageSecure: boolean): UrlHelp | undefined {
  const { scheme = '', user = '', host = '', rest = '' } = ADDRESS.exec(text.trim())?.groups ?? {};
  const named = scheme.toLowerCase();
  const found = HOST.exec(host);
  if (named === 'ws' || named === 'wss' || found === null) return undefined;
  const port = found.groups?.port;
  const name = port === undefined ? host : host.slice(0, -port.length - 1);
  const isTcp = Object.hasOwn(TCP_SCHEMES, named);
  if (named !== '' && !isTcp && !Object.hasOwn(WEB_SCHEMES, named)) return undefined;
  const saysSecure = TCP_SCHEMES[named] ?? WEB_SCHEMES[named] ?? looksSecure(name, port);
  const isSecure = saysSecure || (isPageSecure && !THIS_MACHINE.test(name));
  const shownPort = portFor(port ?? (isTcp ? (saysSecure ? '8883' : '1883') : undefined));
  const path = rest === '' || rest === '/' ? MQTT_PATH : rest;
  const url = `${isSecure ? 'wss' : 'ws'}://${user}${name}${shownPort}${path}`;
  if (!URL.canParse(url)) return undefined;
  return { reason: isTcp ? 'tcp' : named === '' ? 'bare' : 'web', scheme: named, url };
}

function looksSecure(name: string, port: string | undefined): boolean {
  return port === undefined ? !NEAR.test(name) : SECURE_PORTS.has(port);
}

function portFor(port: string | undefined): string {
  return port === undefined ? '' : `:${WEBSOCKET_PORTS[port] ?? port}`;
}
