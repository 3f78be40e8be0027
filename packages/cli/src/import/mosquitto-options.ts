/** The flag of `apus serve` that takes an option's number as it is. */
export const NUMBERS: Readonly<Record<string, string>> = {
  max_inflight_messages: 'inflight-messages-max',
  max_queued_messages: 'queue-length-max',
  max_queued_bytes: 'queue-bytes-max',
  max_packet_size: 'maximum-packet-size',
  max_keepalive: 'server-keep-alive-seconds-max',
  max_topic_alias: 'topic-alias-maximum',
  memory_limit: 'memory-bytes-max',
  sys_interval: 'sys-interval-seconds',
};

/** Numbers that mean "no limit" there; here each limit has its default. */
export const NO_LIMIT: ReadonlySet<string> = new Set([
  'max_inflight_messages',
  'max_queued_messages',
  'max_queued_bytes',
  'max_packet_size',
  'memory_limit',
]);

/** Options that say nothing here, since the broker does it anyway, or by itself. They are left out in silence. */
export const SILENT: ReadonlySet<string> = new Set([
  'allow_zero_length_clientid',
  'autosave_interval',
  'autosave_on_changes',
  'check_retain_source',
  'connection_messages',
  'log_dest',
  'log_facility',
  'log_timestamp',
  'log_timestamp_format',
  'log_type',
  'max_log_entries',
  'persistence_file',
  'pid_file',
  'set_tcp_nodelay',
  'socket_domain',
  'user',
  'websockets_log_level',
]);

/** Why an option is left out. */
export const REASONS: Readonly<Record<string, string>> = {
  acl_plugin: 'plugins are not read: docs/hook.md has a server that is asked',
  auth_plugin: 'plugins are not read: docs/hook.md has a server that is asked',
  bridge_cafile: 'bridges are a file of their own: docs/bridges.md',
  capath: 'certificates of authorities are a file here: --tls-client-ca',
  ciphers: 'ciphers are those of Node.js',
  clientid_prefixes: '`clientIds` of a user does it: docs/rules.md',
  connection: 'bridges are a file of their own: docs/bridges.md. The options below belong to it',
  dhparamfile: 'ciphers are those of Node.js',
  http_dir: 'the broker serves its own page',
  max_connections: '0 and less mean no limit there; here --connections-max has a default',
  maximum_qos: 'rules have a condition on QoS: docs/rules.md',
  message_size_limit: 'it is about payloads: --maximum-packet-size is about whole packets',
  mount_point: 'there is none: rules keep users apart (docs/rules.md), or tenants (docs/tenants.md)',
  plugin: 'plugins are not read: docs/hook.md has a server that is asked',
  psk_file: 'TLS with pre-shared keys is not spoken',
  psk_hint: 'TLS with pre-shared keys is not spoken',
  queue_qos0_messages: 'messages at QoS 0 wait for no client that is away',
  retain_available: 'rules have a condition on RETAIN: docs/rules.md',
  tls_version: 'TLS 1.2 and 1.3 are spoken',
  upgrade_outgoing_qos: 'a subscriber gets at most the QoS of the message',
  use_identity_as_username: 'docs/identity.md#certificates does it, in a file for --identity',
  use_subject_as_username: 'docs/identity.md#certificates does it, in a file for --identity',
};

const SECONDS: Readonly<Record<string, number>> = {
  h: 3_600,
  d: 86_400,
  w: 604_800,
  m: 2_592_000,
  y: 31_536_000,
};

/** `14d` as seconds. */
export function secondsOf(value: string): number | undefined {
  const [, count, unit = ''] = /^([1-9]\d{0,4})([hdwmy])$/.exec(value) ?? [];
  const seconds = SECONDS[unit];
  return seconds === undefined ? undefined : Number(count) * seconds;
}
