import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { explainError } from './explain.ts';
import type { Wire, WireEvents, WireOptions } from './wire.ts';

const TCP_PORT = 1883;
const TLS_PORT = 8883;

/** Whether the URL is one of MQTT without WebSocket: `tcp://HOST:PORT`, `tls://HOST:PORT`. */
export function isStreamUrl(url: string): boolean {
  return /^(?:tcp|tls):/.test(url);
}

/** MQTT as it is over TCP or TLS: the node door's `--listen tcp://…` and `tls://…`, and every other broker. */
export function openStreamWire({ url, localAddress, secureContext }: WireOptions, events: WireEvents): Wire {
  const { protocol, hostname, port } = new URL(url);
  const isTls = protocol === 'tls:';
  const address = {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port) || (isTls ? TLS_PORT : TCP_PORT),
    ...(localAddress !== undefined && { localAddress }),
  };
  const socket = isTls ? connectTls({ ...address, secureContext }) : connectTcp(address);
  let reason: string | undefined;
  // As `ws` does: a packet does not wait for the acknowledgement of the last one.
  socket.setNoDelay(true);
  socket.on(isTls ? 'secureConnect' : 'connect', () => events.open());
  socket.on('data', (data) => events.bytes(data));
  socket.on('error', (error) => {
    reason ??= explainError(error, url);
  });
  socket.on('close', () => events.closed(reason ?? 'the broker closed the connection'));
  return {
    send(bytes) {
      // As `ws` does: answers to packets that come after `close` are dropped.
      if (socket.writable) socket.write(bytes);
    },
    close: () => socket.end(),
  };
}
