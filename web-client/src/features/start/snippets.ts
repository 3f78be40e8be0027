import type { Door } from '../../engine/types.ts';

export type SnippetLanguage = 'javascript' | 'shell';

export interface Snippet {
  /** How to install what the code needs. */
  readonly install: string;
  readonly code: string;
}

/** The connection that the code opens. The code has words in place of its secrets. */
export interface SnippetConnection {
  readonly url: string;
  readonly username: string;
  readonly needsPassword: boolean;
}

const PASSWORD = 'YOUR-PASSWORD';

/** The few lines that do the same as the example in an app. */
export function snippetFor(language: SnippetLanguage, door: Door, connection: SnippetConnection): Snippet {
  if (language === 'shell') return shellSnippet(connection);
  return door === 'gateway' ? gatewaySnippet(connection) : nodeSnippet(connection);
}

const USE = `client.on('message', (topic, payload) => console.log(topic, payload.toString()));
await client.subscribeAsync('hello/#');
await client.publishAsync('hello/world', 'Hello', { qos: 1 });`;

function nodeSnippet(connection: SnippetConnection): Snippet {
  return {
    install: 'npm install mqtt',
    code: `import mqtt from 'mqtt';

const client = mqtt.connect(${parametersOf(connection)});
${USE}`,
  };
}

function gatewaySnippet(connection: SnippetConnection): Snippet {
  return {
    // It is not in npm's registry, where another package might take the name.
    install: 'npm pack -w @apus/client --pack-destination YOUR-APP\nnpm install mqtt ./apus-client-0.1.0.tgz',
    code: `import { connect } from '@apus/client';
import mqtt from 'mqtt';

const client = connect(mqtt, ${parametersOf(connection)});
${USE}`,
  };
}

function parametersOf({ url, username, needsPassword }: SnippetConnection): string {
  const options = [
    ...(username === '' ? [] : [`username: ${literal(username)}`]),
    ...(needsPassword ? [`password: '${PASSWORD}'`] : []),
  ];
  return options.length === 0 ? literal(url) : `${literal(url)}, { ${options.join(', ')} }`;
}

/** In JavaScript, with single quotes. */
function literal(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** In a shell, where only a quote ends what is quoted. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** With the command that mqtt.js brings. */
function shellSnippet({ url, username, needsPassword }: SnippetConnection): Snippet {
  const { protocol, hostname, port, pathname } = new URL(url);
  const isSecure = protocol === 'wss:';
  const user = username === '' ? '' : ` -u ${quoted(username)}`;
  const password = needsPassword ? ` -P '${PASSWORD}'` : '';
  const where = `-l ${isSecure ? 'wss' : 'ws'} -h ${hostname} -p ${port || (isSecure ? 443 : 80)} --path ${pathname}${user}${password}`;
  return {
    install: 'npm install --global mqtt',
    code: `mqtt sub ${where} -t 'hello/#' -v
mqtt pub ${where} -t hello/world -m Hello -q 1`,
  };
}
