import { randomBytes } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Bans, banOnCaller, type Log, type Peer } from '@apus/broker';
import { isAllowedOrigin, type Scheduler } from '@apus/door';
import { BytesBudget } from '../bytes-budget.ts';
import { guarded } from '../guarded-requests.ts';
import { MQTT_PATH, pathOf } from '../handshake.ts';
import type { LinkCluster } from '../link-context.ts';
import type { Listener } from '../listener.ts';
import { stackOf } from '../log.ts';
import type { PeerAddresses } from '../peer-address.ts';
import type { Places } from '../places.ts';
import { HttpExchange, refuse, refuseUnknown } from './http-exchange.ts';
import { KEY_BYTES, LINE_BYTES_MAX, UNCONFIRMED_TOTAL_BYTES_MAX } from './http-link-limits.ts';
import { HttpLinkSocket } from './http-link-socket.ts';

export interface HttpLinksOptions {
  readonly addresses: PeerAddresses;
  readonly bans: Bans;
  readonly places: Places;
  readonly clock: Scheduler;
  readonly log: Log;
  /** Absent: no balancer takes requests of one client to several processes. */
  readonly cluster: LinkCluster | undefined;
}

type LinkDoor = Pick<Listener, 'admit' | 'serveRequest' | 'allowedOrigins'>;

/** The request that came over a socket of this process. */
interface Local {
  readonly request: IncomingMessage;
  readonly listener: LinkDoor;
}

/** The first line of a request: its order. */
interface Order {
  readonly kind: string;
  readonly id: string;
  /** The process that has the link. */
  readonly process: string | undefined;
  readonly counts: readonly number[];
}

const LINE =
  /^(?:(open)|(up|down|poll|end) ([\w-]{22})(?:@(\S+))?(?: (\d{1,15}))?(?: (\d{1,15}) (\d{1,15}))?)$/;
const LINE_END = 10;
const EMPTY = Buffer.alloc(0);

/**
 * MQTT in HTTP requests, for clients behind proxies that let no WebSocket through. Each POST begins with a line:
 *
 *     open              the handshake; the answer is a KEY, or the refusal that a WebSocket would get
 *     up KEY GOT AT N   N bytes of the client, which begin behind AT others; it has got GOT bytes of the server
 *     down KEY GOT      the answer brings the bytes behind GOT, and stays open
 *     poll KEY GOT      the same, and ends when it has brought something
 *     end KEY           the client is gone
 *
 * The key is a secret in a body and no cookie or header: a page of another origin can send it without being asked for,
 * and no log has it [SEC-LINK-1].
 */
export class HttpLinks {
  readonly #options: HttpLinksOptions;
  readonly #links = new Map<string, HttpLinkSocket>();
  readonly #budget: BytesBudget;

  constructor(options: HttpLinksOptions) {
    this.#options = options;
    this.#budget = new BytesBudget(UNCONFIRMED_TOTAL_BYTES_MAX, () => this.#links.values(), options.clock);
  }

  /** Serves the requests of links, and leaves any other to `next`. @param listener of the requests' address */
  before(next: RequestListener, listener: LinkDoor): RequestListener {
    const { addresses, log } = this.#options;
    const answer = guarded((request, response) => {
      const { origin } = request.headers;
      const isAllowed = isAllowedOrigin(origin, listener.allowedOrigins);
      const exchange = new HttpExchange(request, response, isAllowed ? origin : undefined);
      if (isAllowed) this.#read(exchange, addresses.of(request), { request, listener });
      else refuse(exchange, 403, `Web pages of ${origin} may not connect.`);
    }, log);
    return (request, response) => {
      const isOurs = request.method === 'POST' && pathOf(request) === MQTT_PATH;
      (isOurs ? answer : next)(request, response);
    };
  }

  /** Serves a request that came to another process of the cluster. */
  serve(exchange: Duplex, peer: Peer): void {
    this.#read(exchange, peer, undefined);
  }

  #read(exchange: Duplex, peer: Peer, local: Local | undefined): void {
    let bytes: Buffer = EMPTY;
    const failed = (error: unknown) => {
      this.#options.log.error('request-failed', { path: MQTT_PATH, error: stackOf(error) });
      exchange.destroy();
    };
    const handle = (end: number) => {
      const order = orderIn(bytes.toString('latin1', 0, Math.max(end, 0)));
      const rest = bytes.subarray(end + 1);
      if (order === undefined)
        refuse(exchange, 400, 'A POST to this address begins with a line: open, up, down, poll or end.');
      else if (order.kind === 'open' && local !== undefined) this.#open(exchange, local).catch(failed);
      else if (this.#links.has(order.id)) this.#handle(exchange, peer, order, rest, local);
      else this.#passOn(exchange, peer, order, bytes, local);
    };
    const read = (chunk: Buffer) => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      const end = bytes.indexOf(LINE_END);
      if (end < 0 && bytes.length <= LINE_BYTES_MAX) return;
      exchange.off('data', read).pause();
      handle(end);
    };
    exchange.on('data', read);
    exchange.on('error', () => {});
    exchange.once('end', () => {
      if (bytes.indexOf(LINE_END) < 0 && bytes.length <= LINE_BYTES_MAX) handle(-1);
    });
  }

  #handle(exchange: Duplex, peer: Peer, order: Order, rest: Buffer, local: Local | undefined): void {
    const { bans, places } = this.#options;
    const { kind, id, counts } = order;
    const [got = 0, at = 0, length = 0] = counts;
    const link = this.#links.get(id);
    // The address with which the link began is the broker's concern: it ends the link with DISCONNECT.
    if (link?.host !== peer.host && banOnCaller(bans, undefined, peer.host))
      refuse(exchange, 403, 'This address has been banned.');
    else if (kind === 'up') link?.up(exchange, got, { at, length }, rest);
    else if (kind === 'end') {
      exchange.end('200\n');
      this.#links.delete(id);
      link?.endOfClient();
    } else if (link?.down(exchange, got, kind === 'poll') && local !== undefined)
      places.lend(local.request.socket, exchange);
  }

  /** The rules of a handshake hold. */
  async #open(exchange: Duplex, { request, listener }: Local): Promise<void> {
    const { cluster, clock: scheduler } = this.#options;
    const peer = await listener.admit(request);
    // The client has gone meanwhile.
    if (exchange.destroyed) return;
    if ('status' in peer) {
      refuse(exchange, peer.status, peer.reason);
      return;
    }
    const link = new HttpLinkSocket({ scheduler, budget: this.#budget, host: peer.host });
    const served = listener.serveRequest(peer, link);
    if ('status' in served) {
      link.destroy();
      refuse(exchange, served.status, served.reason);
      return;
    }
    const id = randomBytes(KEY_BYTES).toString('base64url');
    this.#links.set(id, link);
    link.once('close', () => this.#links.delete(id));
    exchange.end(`200\n${cluster === undefined ? id : `${id}@${cluster.me}`}\n`);
  }

  #passOn(exchange: Duplex, peer: Peer, { process }: Order, bytes: Buffer, local: Local | undefined): void {
    const { cluster } = this.#options;
    const mayBeElsewhere = cluster !== undefined && process !== undefined && process !== cluster.me;
    if (!mayBeElsewhere || local === undefined) {
      refuseUnknown(exchange);
      return;
    }
    cluster.others().then(
      (others) => {
        if (exchange.destroyed) return;
        if (!others.includes(process)) refuseUnknown(exchange);
        else cluster.forward(process, { peer, wire: 'http', socket: exchange, read: [bytes] });
      },
      () => exchange.destroy(),
    );
  }
}

function orderIn(line: string): Order | undefined {
  const [, open, kind = open, id = '', process, ...counts] = LINE.exec(line) ?? [];
  if (kind === undefined) return undefined;
  return { kind, id, process, counts: counts.filter((count) => count !== undefined).map(Number) };
}
