import unsafe from 'workerd:unsafe';
import { readIdentity } from '@apus/identity';
import type { ApiNote } from '../../src/front-note.ts';
import { admit } from '../../src/handshake.ts';
import { HubObject, type HubOptions, type ObjectState } from '../../src/index.ts';
import { fromText, type RemotePorts, withRemote } from './remote.ts';

interface Stub {
  fetch(request: Request | string): Promise<Response>;
}

interface Environment {
  readonly HUB: { idFromName(name: string): unknown; get(id: unknown): Stub };
  /** The process of the tests. */
  readonly TEST: Stub;
}

/** What the test gives a hub: options, and which ports its own process answers. */
interface Given {
  readonly options: HubOptions;
  /** Of the configuration of identities, as it was given. */
  readonly identity: unknown;
  readonly remote: RemotePorts;
}

/** Why an object was reset. */
const RESET = 'the test resets this object';

/** A hub whose options come in a first request, for tests. They are stored, as a hub's environment is. */
export class TestHub extends HubObject {
  readonly #object: ObjectState;
  readonly #storage: ObjectState['storage'];
  /** Requests that are not answered yet. */
  #asked = 0;

  constructor(state: ObjectState, environment: Environment) {
    super(state, () => optionsOf(state, environment));
    this.#object = state;
    this.#storage = state.storage;
  }

  override async fetch(request: Request): Promise<Response> {
    this.#asked += 1;
    try {
      return await this.#answer(request);
    } finally {
      this.#asked -= 1;
    }
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const [, , root] = pathname.split('/');
    if (root === 'mqtt' || root === 'api') await this.prepare();
    if (root === 'mqtt') {
      // Cloudflare's network says where a client is.
      const headers = [...request.headers, ['cf-connecting-ip', '127.0.0.1']] as [string, string][];
      const peer = await admit(new Request(request, { headers }), this.hub.handshake);
      return peer instanceof Response ? peer : this.connect(request, peer);
    }
    if (root === 'api') return await this.hub.answer(...apiCall(request));
    if (pathname === '/awake') return new Response('awake');
    if (pathname === '/reset') return this.#reset();
    this.#storage.sql.exec('CREATE TABLE IF NOT EXISTS given (v TEXT)');
    this.#storage.sql.exec('DELETE FROM given');
    this.#storage.sql.exec('INSERT INTO given VALUES (?)', await request.text());
    return new Response('ok');
  }

  /** Begins anew from the rows on the disk, unless somebody would lose a socket or an answer. */
  #reset(): Response {
    if (this.#object.getWebSockets().length === 0 && this.#asked === 1) this.#object.abort(RESET);
    return new Response('busy');
  }
}

/** As the Worker in front asks a hub, for an operator. */
function apiCall(request: Request): [Request, ApiNote] {
  const url = new URL(request.url);
  url.pathname = url.pathname.replace(/^\/[^/]*/, '');
  return [new Request(url, request), { tenant: request.headers.get('apus-tenant') ?? 'default' }];
}

function optionsOf({ storage }: ObjectState, { TEST }: Environment): HubOptions {
  storage.sql.exec('CREATE TABLE IF NOT EXISTS given (v TEXT)');
  const [row] = storage.sql.exec('SELECT v FROM given').toArray();
  if (row === undefined) return {};
  const { options, identity, remote } = fromText(row.v as string) as Given;
  return {
    ...options,
    ...(identity !== undefined && { identity: readIdentity(identity, 'identity') }),
    ...withRemote(remote, (request) => TEST.fetch(request)),
  };
}

// biome-ignore lint/style/noDefaultExport: the runtime asks for it
export default {
  async fetch(request: Request, { HUB }: Environment): Promise<Response> {
    const { pathname } = new URL(request.url);
    const [, name = '', what] = pathname.split('/');
    const stub = HUB.get(HUB.idFromName(name));
    if (what === 'evict') {
      const webSockets = pathname.endsWith('/close') ? 'close' : 'hibernate';
      // An object that sleeps cannot be evicted, and an attempt keeps it asleep.
      await (await stub.fetch('http://hub/awake')).text();
      await unsafe.evict(stub, { webSockets });
      return new Response('ok');
    }
    if (what === 'reset') return await resetOf(stub);
    const again = request.clone();
    try {
      return await stub.fetch(request);
    } catch (error) {
      if (!isReset(error)) throw error;
      // It came while the object was reset, which had not seen it.
      return await HUB.get(HUB.idFromName(name)).fetch(again);
    }
  },
};

async function resetOf(stub: Stub): Promise<Response> {
  try {
    return await stub.fetch('http://hub/reset');
  } catch (error) {
    if (!isReset(error)) throw error;
    return new Response('reset');
  }
}

function isReset(error: unknown): boolean {
  return String(error).includes(RESET);
}
