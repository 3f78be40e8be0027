import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Plugin } from 'vite';

const requireOfClient = createRequire(import.meta.url);
const requireOfMqtt = createRequire(requireOfClient.resolve('mqtt'));
const requireOfStreams = createRequire(requireOfMqtt.resolve('readable-stream'));
const STREAMS = join(dirname(requireOfStreams.resolve('readable-stream')), '..', 'internal', 'streams');

/** Modules that mqtt.js imports and that a browser lacks, or that a worker with WebSockets never uses. */
const STAND_INS: Readonly<Record<string, string>> = {
  debug: 'module.exports = () => () => {};',
  // mqtt.js only asks for the order of use if it assigns topic aliases by itself.
  'lru-cache': 'exports.LRUCache = class extends Map { constructor() { super(); } };',
  // Timers of a worker are exact, and a page keeps nothing alive for long. A page's own timers are not methods of other
  // objects.
  'worker-timers':
    'module.exports = { setInterval: (...given) => setInterval(...given), clearInterval: (id) => clearInterval(id) };',
  // Without its operators and promises, which mqtt.js does not use.
  'readable-stream': ['Readable', 'Writable', 'Duplex', 'Transform']
    .map((name) => `exports.${name} = require(${JSON.stringify(join(STREAMS, name.toLowerCase()))});`)
    .concat(
      // mqtt.js uses it as a global when it writes a packet.
      "const { Buffer } = require('buffer'); globalThis.Buffer ??= Buffer;",
      // Its streams expect these on the class that the package itself sets up.
      `const legacy = require(${JSON.stringify(join(STREAMS, 'legacy.js'))}).Stream;`,
      'legacy._isUint8Array = (value) => value instanceof Uint8Array;',
      'legacy._uint8ArrayToBuffer = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);',
    )
    .join('\n'),
  process: `module.exports = { env: {}, nextTick: (work, ...given) => queueMicrotask(() => work(...given)) };
    globalThis.process ??= module.exports;`,
  url: `exports.parse = (text) => {
    const { protocol, hostname, port, pathname, search, searchParams, username, password } = new URL(text);
    const auth = username === '' ? null : decodeURIComponent(username + ':' + password);
    const query = Object.fromEntries(searchParams);
    return { protocol, hostname, port: port === '' ? null : port, path: pathname + search, query, auth };
  };`,
  ...Object.fromEntries(
    ['ws', './tcp', './tls', './socks', './wx', './ali'].map((name) => [name, 'module.exports = {};']),
  ),
};

const PREFIX = '\0mqtt-for-browsers ';

/**
 * Bundles mqtt.js from its modules. Its own bundle for browsers contains polyfills for all of Node.js, and clients for
 * TCP, TLS and other transports: twice as much as a worker with a WebSocket needs.
 */
export function mqttForBrowsers(): Plugin {
  const ofMqtt = /\/node_modules\/(mqtt|mqtt-packet|bl|readable-stream|string_decoder|safe-buffer)\//;
  return {
    name: 'mqtt-for-browsers',
    enforce: 'pre',
    resolveId(asked, importer) {
      if (asked === 'mqtt') return requireOfClient.resolve('mqtt');
      if (importer === undefined || !(ofMqtt.test(importer) || importer.startsWith(PREFIX))) return undefined;
      const name = asked.replace(/\/$/, '');
      if (name === 'buffer' || name === 'events') return requireOfStreams.resolve(`${name}/`);
      return name in STAND_INS && !(name.startsWith('./') && !importer.includes('/lib/connect/'))
        ? `${PREFIX}${name}`
        : undefined;
    },
    load(id) {
      return id.startsWith(PREFIX) ? STAND_INS[id.slice(PREFIX.length)] : undefined;
    },
  };
}
