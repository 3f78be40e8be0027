import { parseSigningSecrets } from '@apus/identity';
import { Match } from 'aws-cdk-lib/assertions';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { describe, expect, it } from 'vitest';
import { Rotation } from '../functions/rotation.ts';
import { permissionsOf } from './support/statements.ts';
import { synthApp, synthBroker } from './support/synth.ts';

const FIRST = 'first-secret-of-at-least-32-bytes-000';
const ARN = 'arn:aws:secretsmanager:eu-west-1:1:secret:token-a1B2c3';

class FakeSecretsManager {
  readonly versions = new Map<string, { text: string | undefined; stages: string[] }>([
    ['v1', { text: FIRST, stages: ['AWSCURRENT'] }],
  ]);

  /** The state before the first step. */
  stage(version: string): void {
    this.versions.set(version, { text: undefined, stages: ['AWSPENDING'] });
  }

  get current(): string | undefined {
    return [...this.versions.values()].find(({ stages }) => stages.includes('AWSCURRENT'))?.text;
  }

  async send(command: object): Promise<never> {
    const { input } = command as { readonly input: Readonly<Record<string, string>> };
    return this.#answer(command.constructor.name, input) as never;
  }

  #answer(name: string, input: Readonly<Record<string, string>>): object {
    switch (name) {
      case 'DescribeSecretCommand':
        return {
          VersionIdsToStages: Object.fromEntries([...this.versions].map(([id, { stages }]) => [id, stages])),
        };
      case 'GetSecretValueCommand': {
        const found = [...this.versions].find(
          ([id, { stages }]) => id === input.VersionId || stages.includes(input.VersionStage ?? ''),
        )?.[1].text;
        if (found !== undefined) return { SecretString: found };
        throw Object.assign(new Error('no value'), { name: 'ResourceNotFoundException' });
      }
      case 'PutSecretValueCommand':
        this.versions.set(input.ClientRequestToken ?? '', {
          text: input.SecretString,
          stages: ['AWSPENDING'],
        });
        return {};
      case 'UpdateSecretVersionStageCommand':
        for (const version of this.versions.values())
          version.stages = version.stages.filter((stage) => stage !== 'AWSCURRENT');
        this.versions.get(input.MoveToVersionId ?? '')?.stages.push('AWSCURRENT');
        return {};
      default:
        throw new Error(name);
    }
  }
}

const STEPS = ['createSecret', 'setSecret', 'testSecret', 'finishSecret'];

async function rotate(secrets: FakeSecretsManager, version: string, steps = STEPS): Promise<void> {
  if (!secrets.versions.has(version)) secrets.stage(version);
  const rotation = new Rotation({ secrets });
  for (const Step of steps) await rotation.handle({ Step, SecretId: ARN, ClientRequestToken: version });
}

describe('the function that rotates the secret [SEC-TOKEN-9]', () => {
  it('puts a new key before the former one, and drops the one before that', async () => {
    const secrets = new FakeSecretsManager();
    await rotate(secrets, 'v2');
    const [second, former] = parseSigningSecrets(secrets.current ?? '');
    expect(former?.secret).toBe(FIRST);
    expect(second?.secret).not.toBe(FIRST);
    await rotate(secrets, 'v3');
    const third = parseSigningSecrets(secrets.current ?? '');
    expect(third).toHaveLength(2);
    expect(third[1]).toEqual(second);
  });

  it('signs with the former key until it is finished', async () => {
    const secrets = new FakeSecretsManager();
    await rotate(secrets, 'v2', STEPS.slice(0, 3));
    expect(secrets.current).toBe(FIRST);
  });

  it('creates one key even if steps are repeated', async () => {
    const secrets = new FakeSecretsManager();
    await rotate(secrets, 'v2', ['createSecret']);
    const made = secrets.versions.get('v2')?.text;
    await rotate(
      secrets,
      'v2',
      STEPS.flatMap((step) => [step, step]),
    );
    expect(secrets.current).toBe(made);
  });

  it('stops at a list that the broker could not read', async () => {
    const secrets = new FakeSecretsManager();
    secrets.versions.set('v2', { text: '[{"kid": "1", "secret": "short"}]', stages: ['AWSPENDING'] });
    await expect(rotate(secrets, 'v2', ['testSecret'])).rejects.toThrow('HS256 needs at least 32');
    await expect(rotate(secrets, 'v2', ['other'])).rejects.toThrow('no step "other"');
  });
});

describe('rotateTokenSecretDays', () => {
  const template = synthApp({ rotateTokenSecretDays: '30' });

  it('has Secrets Manager call the function, not before the first interval is over', () => {
    template.hasResourceProperties('AWS::SecretsManager::RotationSchedule', {
      SecretId: { Ref: Match.stringLikeRegexp('^BrokerTokenSecret') },
      RotationRules: { ScheduleExpression: 'rate(30 days)' },
      RotateImmediatelyOnUpdate: false,
    });
    template.hasResourceProperties('AWS::Lambda::Permission', {
      Principal: 'secretsmanager.amazonaws.com',
      FunctionName: { 'Fn::GetAtt': [Match.stringLikeRegexp('^BrokerRotation'), 'Arn'] },
    });
  });

  it('lets the function read and write this one secret, and do nothing else with it', () => {
    const permissions = permissionsOf(template, 'BrokerRotationRole').filter(
      (each) => !each.startsWith('logs:'),
    );
    expect(permissions.filter((each) => !/ \{BrokerTokenSecret\}$/.test(each))).toEqual([
      'secretsmanager:GetRandomPassword *',
    ]);
    expect(permissions).toContain('secretsmanager:PutSecretValue {BrokerTokenSecret}');
  });

  it('is off by default, and refused where the stack generates no secret', () => {
    synthBroker().template.resourceCountIs('AWS::SecretsManager::RotationSchedule', 0);
    expect(() => synthBroker({ authentication: 'anonymous', rotateTokenSecretDays: 30 })).toThrow(
      'for the secret that the stack generates',
    );
    expect(() =>
      synthBroker((stack) => ({
        authentication: { secret: Secret.fromSecretCompleteArn(stack, 'Own', ARN) },
        rotateTokenSecretDays: 30,
      })),
    ).toThrow('for the secret that the stack generates');
    expect(() => synthBroker({ rotateTokenSecretDays: 0 })).toThrow('rotateTokenSecretDays');
  });
});
