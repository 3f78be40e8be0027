import { request } from 'node:http';
import { WebSocket } from 'ws';

/** How a server answered an opening handshake, seen below any WebSocket library. */
export type Handshake =
  | { readonly accepted: true; readonly subprotocol: string | undefined }
  | { readonly accepted: false };

/** Offers these subprotocols, or none, and returns the server's answer. */
export function handshake(url: string, subprotocols: readonly string[]): Promise<Handshake> {
  const { host, pathname, search } = new URL(url);
  const offered = subprotocols.length > 0 ? { 'Sec-WebSocket-Protocol': subprotocols.join(', ') } : {};
  return new Promise((resolve) => {
    const upgrade = request(`http://${host}${pathname}${search}`, {
      headers: {
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
        ...offered,
      },
    });
    upgrade.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ accepted: true, subprotocol: response.headers['sec-websocket-protocol'] });
    });
    upgrade.on('response', (response) => {
      response.resume();
      resolve({ accepted: false });
    });
    upgrade.on('error', () => resolve({ accepted: false }));
    upgrade.end();
  });
}

export interface Frame {
  readonly bytes: Buffer;
  readonly binary: boolean;
}

/** Sends these bytes over a new connection and returns the first frame that answers them. */
export async function firstFrame(url: string, hex: string): Promise<Frame> {
  const socket = new WebSocket(url, ['mqtt']);
  const frame = new Promise<Frame>((resolve, reject) => {
    socket.on('open', () => socket.send(Buffer.from(hex.replaceAll(/\s/g, ''), 'hex')));
    socket.on('message', (data, binary) => resolve({ bytes: data as Buffer, binary }));
    socket.on('close', (code) => reject(new Error(`expected a frame, the connection closed with ${code}`)));
    socket.on('error', reject);
  });
  return frame.finally(() => socket.terminate());
}
