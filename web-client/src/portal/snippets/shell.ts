import { shellWord } from './literals.ts';
import { PAYLOAD_FILE, type Snippets, TOKEN_VARIABLE, USER_NAME, type Wanted } from './snippet.ts';

/**
 * With the command that mqtt.js brings, which knows no transport for a gateway door, no past of a stream and no content
 * type. Values follow "=": one may begin with "-".
 */
export function shell({ server, filter, topic, payload }: Wanted): Snippets | undefined {
  if (server.door === 'gateway') return undefined;
  const install = 'npm install mqtt';
  const { protocol, hostname, port, pathname, search } = new URL(server.url);
  const isSecure = protocol === 'wss:';
  const where = [
    `--protocol=${isSecure ? 'wss' : 'ws'} --hostname=${shellWord(hostname)} --port=${port || (isSecure ? 443 : 80)}`,
    `--path=${shellWord(pathname + search)} --protocolVersion=5`,
    ...(server.asksForToken ? [`--username=${USER_NAME} --password="$${TOKEN_VARIABLE}"`] : []),
  ];
  const sent = payload === undefined ? `--stdin < ${PAYLOAD_FILE}` : `--message=${shellWord(payload)}`;
  return {
    receive: {
      install,
      file: undefined,
      code: lines('sub', [...where, '--qos=1 --verbose', `--topic=${shellWord(filter)}`]),
    },
    publish: {
      install,
      file: undefined,
      code: lines('pub', [...where, '--qos=1', `--topic=${shellWord(topic)}`, sent]),
    },
  };
}

function lines(command: 'pub' | 'sub', flags: readonly string[]): string {
  return [`npx mqtt ${command}`, ...flags].join(' \\\n  ');
}
