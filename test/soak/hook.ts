import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A server that decides is a network and a database away. */
const ANSWER_AFTER_MS = 20;

/**
 * A server of the operator's that decides about users who are in no users file. A password is right when it is the name,
 * and each user has its own topics. A wrong password is a 401, and whoever it does not know is ignored.
 */
export class Hook {
  readonly #server: Server;

  static async start(users: readonly string[]): Promise<Hook> {
    const server = createServer(async (request, response) => {
      const asked = JSON.parse(await text(request)) as Asked;
      setTimeout(() => {
        const answer = request.url === '/auth' ? authenticate(users, asked) : authorize(users, asked);
        response.writeHead(answer === 'wrong' ? 401 : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ result: answer }));
      }, ANSWER_AFTER_MS);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Hook(server);
  }

  private constructor(server: Server) {
    this.#server = server;
  }

  /** What `apus serve --identity` reads, with the users of a file beside those of the hook. */
  identity(usersFile: string): object {
    const url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    const [username, password, topic] = ['username', 'password', 'topic'].map((name) => `\${${name}}`);
    return {
      authenticators: [
        { users: { file: usersFile } },
        { hook: { url: `${url}/auth`, body: { username, password } } },
      ],
      authorization: { hook: { url: `${url}/acl`, body: { username, topic } } },
    };
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

interface Asked {
  readonly username: string;
  readonly password?: string;
  readonly topic?: string;
}

function authenticate(users: readonly string[], { username, password }: Asked) {
  if (!users.includes(username)) return 'ignore';
  return username === password ? 'allow' : 'wrong';
}

function authorize(users: readonly string[], { username, topic = '' }: Asked) {
  return users.includes(username) && topic.startsWith(`honest/${username}/`) ? 'allow' : 'deny';
}
