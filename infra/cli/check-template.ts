import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { ContainerImage } from 'aws-cdk-lib/aws-ecs';
import { HostedZone } from 'aws-cdk-lib/aws-route53';
import { App, Stack } from 'aws-cdk-lib/core';
import { ApusCluster } from '../lib/cluster/apus-cluster.ts';
import type { ApusClusterProps } from '../lib/cluster/cluster-props.ts';
import { createApp } from '../lib/create-app.ts';
import { readContext } from './cdk-json.ts';
import { CommandError } from './command-error.ts';
import { main } from './main.ts';
import { ensurePythonPackage } from './venv.ts';

const CFN_LINT = '1.58.0';
/** Its script contains the path of the interpreter with which it was first installed. */
const CFN_LINT_MAIN = 'import sys; from cfnlint.runner import main; sys.exit(main())';

/** CDK adds a dependency of a function on its role, although the function refers to the role as well: harmless. */
const IGNORED = ['W3005'];

/** The app with its defaults, and with every feature. */
const VARIANTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  default: {},
  full: {
    accessLogs: true,
    tracing: true,
    pointInTimeRecovery: true,
    alarmEmail: 'ops@example.com',
    domainName: 'mqtt.example.com',
    certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/00000000-0000-0000-0000-000000000000',
    hostedZoneId: 'Z0123456789ABCDEFGHIJ',
    httpPublish: 'iam',
    httpApi: 'iam',
  },
  keys: { httpPublish: 'keys', httpApiKeySha256: '0'.repeat(64) },
  compliance: { compliance: true, httpPublish: 'keys', rollbackOnAlarm: true },
  company: {
    tags: 'team=iot,cost-center=42',
    encryptionKeyArn: 'arn:aws:kms:eu-west-1:123456789012:key/00000000-0000-0000-0000-000000000000',
    reservedConcurrency: 40,
    alarmEmail: 'ops@example.com',
    alarmFrameMilliseconds: 500,
    alarmMessagesDropped: 0,
    alarmSweepMissing: true,
    budgetDollars: 50,
  },
  adopted: {
    adoptTable: 'apus-messages',
    adoptSessionsTable: 'apus-sessions',
    tokenSecretArn: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:token-a1B2c3',
  },
};

/** `ApusCluster` with an engine of each kind. */
const CLUSTERS: Readonly<Record<string, Partial<ApusClusterProps>>> = {
  cluster: { alarms: { email: 'ops@example.com' } },
  'cluster-in-memory': { engine: { durability: 'disabled', nodeType: 'cache.t4g.small', replicas: 2 } },
  'cluster-own-engine': { engine: { url: 'rediss://engine.example.com:6379' }, alarms: false },
};

const KAFKA = {
  name: 'market',
  kafka: { aws: { clusterArn: 'arn:aws:kafka:eu-west-1:123456789012:cluster/market/0a1b-2' } },
  in: [{ topic: 'prices', to: 'prices/{key}' }],
};

const IOT_CORE = {
  name: 'things',
  iotCore: {},
  in: [
    { filter: 'things/#' },
    { filter: '+/shadow/update/accepted', localPrefix: 'shadows/', remotePrefix: '$aws/things/' },
  ],
};

const RULE = { name: 'hot', filter: 'sensors/#', to: { webhook: { url: 'https://example.com/hook' } } };

await main(checkTemplate);

/** cfn-lint over the synthesized templates. */
async function checkTemplate(): Promise<void> {
  const python = await ensurePythonPackage('cfn-lint', CFN_LINT);
  const folder = await mkdtemp(join(tmpdir(), 'apus-template-'));
  try {
    const streams = join(folder, 'streams.json');
    await writeFile(streams, JSON.stringify({ streams: [{ name: 'chat', topicFilter: 'chat/#' }] }));
    const bridges = join(folder, 'bridges.json');
    await writeFile(bridges, JSON.stringify({ bridges: [KAFKA, IOT_CORE] }));
    const rules = join(folder, 'rules.json');
    await writeFile(rules, JSON.stringify({ rules: [RULE] }));
    const templates = [
      ...Object.entries({ ...VARIANTS, streams: { streams }, bridges: { bridges, rules } }).map(
        ([name, context]) => synthesize(join(folder, name), context),
      ),
      ...Object.entries(CLUSTERS).map(([name, props]) => synthesizeCluster(join(folder, name), props)),
    ];
    const { status } = spawnSync(
      python,
      ['-c', CFN_LINT_MAIN, '--ignore-checks', ...IGNORED, '--', ...templates],
      { stdio: 'inherit' },
    );
    if (status !== 0) throw new CommandError(`cfn-lint ${CFN_LINT} finds the template wrong.`);
    console.log(`cfn-lint ${CFN_LINT}: ${templates.length} templates are right.`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function synthesizeCluster(outdir: string, props: Partial<ApusClusterProps>): string {
  const app = new App({ outdir, context: readContext() });
  const stack = new Stack(app, 'Cluster');
  new ApusCluster(stack, 'Cluster', {
    image: ContainerImage.fromRegistry('registry.example.com/apus:0.1.0'),
    domain: {
      domainName: 'mqtt.example.com',
      certificate: Certificate.fromCertificateArn(
        stack,
        'Certificate',
        VARIANTS.full?.certificateArn as string,
      ),
      hostedZone: HostedZone.fromHostedZoneAttributes(stack, 'Zone', {
        hostedZoneId: 'Z0123456789ABCDEFGHIJ',
        zoneName: 'example.com',
      }),
    },
    ...props,
  });
  return join(app.synth().directory, 'Cluster.template.json');
}

/** The code of the functions does not matter here: they are not bundled. */
function synthesize(outdir: string, context: Readonly<Record<string, unknown>>): string {
  const { app } = createApp({
    outdir,
    context: { ...readContext(), 'aws:cdk:bundling-stacks': [], ...context },
  });
  return join(app.synth().directory, 'Apus.template.json');
}
