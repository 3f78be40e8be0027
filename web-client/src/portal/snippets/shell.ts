import { shellWord } from './literals.ts';
import { PAYLOAD_FILE, type Snippets, USER_NAME, type Wanted } from './snippet.ts';

/**
 * With the broker's own command, which detects a gateway door by itself: there the token is in the handshake, without a
 * user name. Values follow "=": one may begin with "-".
 */
export function shell({ server, filter, rewind, topic, payload, contentType }: Wanted): Snippets {
  const install = 'npm install && npm run build   # in a copy of the repository of Apus';
  const where = [
    `--url=${shellWord(server.url)}`,
    ...(server.asksForToken && server.door === 'node' ? [`--username=${USER_NAME}`] : []),
  ];
  const past = rewind === undefined ? [] : [`--rewind=${shellWord(rewind)}`];
  const sent = payload === undefined ? `--file=${PAYLOAD_FILE}` : `--message=${shellWord(payload)}`;
  return {
    receive: {
      install,
      file: undefined,
      code: lines('sub', [...where, `--topic=${shellWord(filter)}`, '--qos=1', ...past, '--verbose']),
    },
    publish: {
      install,
      file: undefined,
      code: lines('pub', [
        ...where,
        `--topic=${shellWord(topic)}`,
        sent,
        '--qos=1',
        `--content-type=${shellWord(contentType)}`,
      ]),
    },
  };
}

function lines(command: 'pub' | 'sub', flags: readonly string[]): string {
  return [`npx apus ${command}`, ...flags].join(' \\\n  ');
}
