import type { Door } from '../../engine/types.ts';

export type SnippetLanguage = 'javascript' | 'shell';

export interface Snippet {
  /** How to get what the code needs. */
  readonly install: string;
  readonly code: string;
}

/** The few lines that do in one's own app what the example does. */
export function snippetFor(language: SnippetLanguage, door: Door, url: string): Snippet {
  if (language === 'shell') return shellSnippet(url);
  return door === 'gateway' ? gatewaySnippet(url) : nodeSnippet(url);
}

const USE = `client.on('message', (topic, payload) => console.log(topic, payload.toString()));
await client.subscribeAsync('hello/#');
await client.publishAsync('hello/world', 'Hello', { qos: 1 });`;

function nodeSnippet(url: string): Snippet {
  return {
    install: 'npm install mqtt',
    code: `import mqtt from 'mqtt';

const client = mqtt.connect('${url}');
${USE}`,
  };
}

function gatewaySnippet(url: string): Snippet {
  return {
    // It is not in npm's registry, where somebody else might take the name.
    install: 'npm pack -w @apus/client --pack-destination YOUR-APP\nnpm install mqtt ./apus-client-0.1.0.tgz',
    code: `import { connect } from '@apus/client';
import mqtt from 'mqtt';

const client = connect(mqtt, '${url}');
${USE}`,
  };
}

/** With the command that mqtt.js brings. */
function shellSnippet(url: string): Snippet {
  const { protocol, hostname, port, pathname } = new URL(url);
  const isSecure = protocol === 'wss:';
  const where = `-l ${isSecure ? 'wss' : 'ws'} -h ${hostname} -p ${port || (isSecure ? 443 : 80)} --path ${pathname}`;
  return {
    install: 'npm install --global mqtt',
    code: `mqtt sub ${where} -t 'hello/#' -v
mqtt pub ${where} -t hello/world -m Hello -q 1`,
  };
}
