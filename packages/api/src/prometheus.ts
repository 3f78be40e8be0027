/** EMQX's name of a node, for a broker without a cluster and for a deployment. */
export const NODE_NAME = 'apus';

/** Prometheus's text format, version 0.0.4. */
export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export interface Sample {
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  readonly value: number;
}

/** The metrics of one process. */
export interface ProcessSamples {
  readonly node: string;
  /** The order is the same in every process. */
  readonly samples: readonly Sample[];
}

/** The label `node`, which tells several processes apart. */
export function prometheusText(processes: readonly ProcessSamples[]): string {
  const [first] = processes;
  if (first === undefined) return '';
  return first.samples.map(({ name }, index) => textOf(name, index, processes)).join('');
}

/** `messages.received` becomes `emqx_messages_received`. One name does not follow this rule. */
export function emqxName(name: string): string {
  return name === 'packets.connect.received' ? 'emqx_packets_connect' : `emqx_${name.replaceAll('.', '_')}`;
}

export function gauge(name: string, help: string, value: number): Sample {
  return { name, type: 'gauge', help, value };
}

export function counter(name: string, help: string, value: number): Sample {
  return { name, type: 'counter', help, value };
}

function textOf(name: string, index: number, processes: readonly ProcessSamples[]): string {
  const lines = processes.flatMap(({ node, samples }) => {
    const sample = samples[index];
    if (sample?.name !== name) return [];
    const label = node === NODE_NAME ? '' : `{node="${node}"}`;
    return [`${name}${label} ${numberOf(sample.value)}\n`];
  });
  const { help, type } = processes[0]?.samples[index] ?? {};
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function numberOf(value: number): string {
  return value === Number.POSITIVE_INFINITY ? '+Inf' : String(value);
}
