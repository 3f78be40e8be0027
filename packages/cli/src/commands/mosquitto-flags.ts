import type { Command } from './command.ts';
import type { Spellings } from './flags.ts';

const TLS =
  'it is not here. Certificates of other authorities are read from the file in NODE_EXTRA_CA_CERTS.';
const CLIENT_CERTIFICATE = 'Apus takes no client certificates.';

/** Flags of both mosquitto_pub and mosquitto_sub, and what stands for them here. */
const COMMON: Spellings = {
  '--id': '--client-id',
  '--keepalive': '--keep-alive',
  '--pw': '--password',
  '--protocol-version': '--mqtt-version',
  '-L': 'the address and the topic are two flags: -u ws://HOST:PORT/mqtt -t TOPIC.',
  '-A': 'the operating system chooses the address to connect from.',
  '-D': 'each property has a flag of its own: see the help.',
  '-d': 'there is no debug output.',
  '--ws': 'all connections are WebSockets.',
  '--cafile': TLS,
  '--capath': TLS,
  '--insecure': TLS,
  '--cert': CLIENT_CERTIFICATE,
  '--key': CLIENT_CERTIFICATE,
};

const PUB: Spellings = {
  ...COMMON,
  '-n': '--message=',
  '--null-message': '--message=',
  '-s': '--file=-',
  '--stdin-file': '--file=-',
  '--stdin-line': '--stdin-lines',
  '--repeat': 'a loop of the shell, or -l, publishes several messages.',
  '-x': 'the session ends with the connection.',
};

const SUB: Spellings = {
  ...COMMON,
  '-C': '--count',
  '-E': '--count=0',
  '-R': '--retain-handling=2',
  '--disable-clean-session': '--keep',
  '-F': 'the output has no format: --json prints all of a message, and -v its topic.',
  '-T': 'there is no filter for what is not printed.',
  '-U': 'there is nothing to unsubscribe from: a session is kept only with --keep.',
  '-x': 'a session that is kept (--keep) lasts for a day.',
  '--retained-only': 'there is no such filter. --json shows which messages are retained.',
  '--remove-retained': '`apus pub -r -n -t TOPIC` deletes a retained message.',
};

export const MOSQUITTO_PUB = spellingsFor(PUB);
export const MOSQUITTO_SUB = spellingsFor(SUB);

/** Where -h or -p names the broker, -u is the user name: it cannot be the URL. */
function spellingsFor(spellings: Spellings): NonNullable<Command['spellings']> {
  return (args) => {
    const hasHost = args.some((word) => /^(-[hp]|--host|--port)/.test(word));
    const isUrl = args[args.indexOf('-u') + 1]?.includes('://') === true;
    return hasHost && !isUrl ? { ...spellings, '-u': '--username' } : spellings;
  };
}
