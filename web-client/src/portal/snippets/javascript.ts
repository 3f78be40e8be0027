import { quoted } from './literals.ts';
import {
  PAYLOAD_FILE,
  type Snippets,
  TOKEN_VARIABLE,
  tarballsOf,
  USER_NAME,
  type Wanted,
} from './snippet.ts';

/** With mqtt.js in Node.js: through the Apus transport where the server is a gateway door. */
export function javascript(wanted: Wanted): Snippets {
  const { filter, rewind, topic, payload, contentType } = wanted;
  const past = rewind === undefined ? '' : `, properties: { userProperties: { rewind: ${quoted(rewind)} } }`;
  const [imports, sent] =
    payload === undefined
      ? ["import { readFile } from 'node:fs/promises';\n", `await readFile(${quoted(PAYLOAD_FILE)})`]
      : ['', quoted(payload)];
  return {
    receive: {
      install: installOf(wanted),
      file: 'receive.mjs',
      code: `${connectOf(wanted, '')}
client.on('message', (topic, payload) => console.log(topic, payload.toString()));
await client.subscribeAsync(${quoted(filter)}, { qos: 1${past} });`,
    },
    publish: {
      install: installOf(wanted),
      file: 'publish.mjs',
      code: `${connectOf(wanted, imports)}
await client.publishAsync(
  ${quoted(topic)},
  ${sent},
  { qos: 1, properties: { contentType: ${quoted(contentType)} } },
);
await client.endAsync();`,
    },
  };
}

function installOf(wanted: Wanted): string {
  if (wanted.server.door === 'node') return 'npm install mqtt';
  return `npm install mqtt ${tarballsOf(['client'], wanted)}`;
}

function connectOf({ server }: Wanted, imports: string): string {
  return `${importsOf(server.door, imports)}

const client = ${connection(server, `process.env.${TOKEN_VARIABLE}`)};
client.on('error', (error) => console.error(error.message));`;
}

function importsOf(door: Wanted['server']['door'], others: string): string {
  const transport = door === 'gateway' ? "import { connect } from '@apus/client';\n" : '';
  return `${others}${transport}import mqtt from 'mqtt';`;
}

/** The call that connects. At a gateway door the token is in the handshake, before a connection costs anything. */
export function connection({ url, door, asksForToken }: Wanted['server'], token: string, more = ''): string {
  if (door === 'gateway') {
    const transport = [...(asksForToken ? [`token: () => ${token}`] : []), ...(more === '' ? [] : [more])];
    const options = transport.length === 0 ? '' : `, { ${transport.join(', ')} }`;
    return `connect(mqtt, ${quoted(url)}, { protocolVersion: 5 }${options})`;
  }
  const credentials = asksForToken ? `,\n  username: ${quoted(USER_NAME)},\n  password: ${token},\n}` : ' }';
  const options = asksForToken ? '{\n  protocolVersion: 5' : '{ protocolVersion: 5';
  return `mqtt.connect(${quoted(url)}, ${options}${credentials})`;
}
