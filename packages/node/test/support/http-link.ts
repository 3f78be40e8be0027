import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { generate } from 'mqtt-packet';

/** A request that has been sent, with its answer as far as it has come. */
export interface Asked {
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
  /** The bytes of the body that have come. */
  readonly bytes: () => Buffer;
  /** Resolves with the body when the answer has ended, or was cut. */
  readonly ended: Promise<string>;
}

/** POSTs and resolves when the head of the answer has come. */
export async function ask(
  url: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Asked> {
  const sent = request(url.replace(/^ws/, 'http'), { method: 'POST', headers, agent: false });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  response.on('error', () => {});
  const bytes = () => Buffer.concat(chunks);
  const ended = new Promise<string>((resolve) =>
    response.once('close', () => resolve(bytes().toString('latin1'))),
  );
  return { request: sent, response, bytes, ended };
}

/** The status and the body of an answer. */
export async function answer(url: string, body: string | Buffer, headers: Record<string, string> = {}) {
  const { response, ended } = await ask(url, body, headers);
  return { status: response.statusCode, text: await ended };
}

/** Opens a link, and returns its key. */
export async function openLink(url: string): Promise<string> {
  const { status, text } = await answer(url, 'open\n');
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return text.trim();
}

/** The bytes of a packet in `mqtt-packet`'s shape. */
export function encoded(packet: object): Buffer {
  return generate(packet as never, { protocolVersion: 5 } as never) as Buffer;
}

export const CONNECT = {
  ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 5 },
  ...{ clean: true, clientId: '', keepalive: 0 },
};

/** A POST of these bytes, which begin behind `at` others. */
export function up(key: string, bytes: Buffer, at: number, got = 0): Buffer {
  return Buffer.concat([Buffer.from(`up ${key} ${got} ${at} ${bytes.length}\n`), bytes]);
}
