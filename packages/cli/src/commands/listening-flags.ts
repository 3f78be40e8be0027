import { type CertificateFiles, parseListenAddress } from '@apus/node';
import type { DoorsOptions } from '../start-doors.ts';
import { WORKERS_MAX, WORKERS_MIN } from '../workers/limits.ts';
import { type Flags, UsageError, type Values } from './flags.ts';

export const HOST = '127.0.0.1';
const PORT_MAX = 65_535;
const PORT = 8083;
const GATEWAY_PORT = 8084;

/** Where `apus serve` listens. */
export const LISTENING_FLAGS: Flags = {
  host: {
    value: 'ADDRESS',
    help: 'Address to listen at; 0.0.0.0 for all addresses of this machine.',
    default: HOST,
  },
  port: {
    value: 'PORT',
    short: 'p',
    help: 'Port of the node door and the web client; 0 takes any free port.',
    default: String(PORT),
  },
  'gateway-port': {
    value: 'PORT',
    help: 'Port of the gateway door: the Lambda handlers behind an emulator of API Gateway.',
    default: String(GATEWAY_PORT),
  },
  listen: {
    value: 'ADDRESS',
    multiple: true,
    help: 'Listens at a further address: tcp://0.0.0.0:1883, tls://0.0.0.0:8883, ws:// or wss://0.0.0.0:443/mqtt (with the page). Parameters behind ?: proxy-protocol, connections-max=COUNT, origin=ORIGIN, client-certificate=required (docs/operate.md).',
  },
  'tls-cert': {
    value: 'FILE',
    multiple: true,
    help: 'Certificate for the addresses with TLS, and those of its issuers, in PEM; read again when it changes. Several: clients get the one for the server name that they ask for.',
  },
  'tls-key': {
    value: 'FILE',
    multiple: true,
    help: 'Private key of the certificate, in PEM: one for each, in the same order.',
  },
  'tls-client-ca': {
    value: 'FILE',
    multiple: true,
    help: 'Certificates of authorities, in PEM: addresses with TLS ask clients for a certificate that one of these has signed (docs/identity.md). ?client-certificate=required in --listen cuts clients without one.',
  },
  'tls-client-crl': {
    value: 'FILE',
    multiple: true,
    help: 'Lists of certificates that these authorities have revoked, in PEM; read again when they change.',
  },
  'no-gateway': { help: 'Opens the node door only.' },
  workers: {
    value: 'COUNT',
    help: `Processes, from ${WORKERS_MIN} to ${WORKERS_MAX}, that share the port and are one broker (docs/cluster.md). They use the engine of --cluster, or one that the command starts and ends: valkey-server or redis-server on the PATH. That one forgets everything when the command ends, unless --data is given.`,
  },
};

export function listeningFrom(
  values: Values,
): Pick<DoorsOptions, 'host' | 'port' | 'listen' | 'certificates' | 'clientAuthorities' | 'gatewayPort'> {
  return {
    host: values.text('host'),
    port: portFrom(values),
    listen: values.all('listen').map(parseListenAddress),
    certificates: certificatesFrom(values),
    clientAuthorities: { ca: values.all('tls-client-ca'), crl: values.all('tls-client-crl') },
    gatewayPort: gatewayPortFrom(values),
  };
}

export function portFrom(values: Values): number {
  return values.count('port', PORT_MAX) ?? PORT;
}

function certificatesFrom(values: Values): readonly CertificateFiles[] {
  const [certs, keys] = [values.all('tls-cert'), values.all('tls-key')];
  if (certs.length !== keys.length)
    throw new UsageError(
      `Each certificate has its key: there are ${certs.length} of --tls-cert and ${keys.length} of --tls-key.`,
    );
  return certs.map((cert, index) => ({ cert, key: keys[index] ?? '' }));
}

/** Processes of a cluster open no gateway door unless the flags ask for one. */
function gatewayPortFrom(values: Values): number | undefined {
  if (values.isSet('no-gateway')) return undefined;
  const isOne = !values.isSet('cluster') && !values.isSet('workers');
  return values.count('gateway-port', PORT_MAX) ?? (isOne ? GATEWAY_PORT : undefined);
}
