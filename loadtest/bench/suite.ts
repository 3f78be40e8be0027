import { fileURLToPath } from 'node:url';
import { findScenario } from '../src/scenario/find-scenario.ts';
import { planOf } from '../src/scenario/plan.ts';
import { type Case, CONNECTS_PER_SECOND } from './cases.ts';

/** `loadtest/scenarios`: both the sources and the built program stand in a folder beside it. */
const SCENARIOS = fileURLToPath(new URL('../scenarios', import.meta.url));

/**
 * The eight cases of the Open MQTT Benchmark Suite, at the share of their clients that two cores carry, broker and
 * generator together: the suite's large set is for a node of 16 cores alone. Rates of a client are as they are written.
 */
export const SUITE: readonly Case[] = [
  suiteCase('conn-10K-100', 1),
  suiteCase('fanout-1-1K-1-1K', 1),
  suiteCase('p2p-1K-1K-1K-1K', 1),
  suiteCase('sharedsub-1K-5-1K-1K', 1),
  suiteCase('conn-1M-5K', 0.01),
  suiteCase('fanout-5-1000-5-250K', 0.1),
  suiteCase('p2p-50K-50K-50K-50K', 0.05),
  suiteCase('sharedsub-50K-500-50K-50K', 0.05),
];

/** The suite says how fast clients connect in its connection cases alone, and asks for MQTT 5 in its shared ones alone. */
function suiteCase(name: string, share: number): Case {
  const written = findScenario(name, SCENARIOS);
  const isIdle = name.startsWith('conn-');
  const isShared = name.startsWith('sharedsub-');
  const { groups } = planOf(written, { scale: share, seconds: 1, part: { number: 1, of: 1 } });
  return {
    name,
    title: `${written.title.replace(/\.$/, '')} (${name} at ${share * 100}%)`,
    kind: isIdle ? 'idle' : 'paced',
    needsSharedSubscriptions: isShared,
    scenario: {
      ...written,
      groups: written.groups.map((group, at) => ({
        ...group,
        clients: groups[at]?.clients ?? group.clients,
      })),
      mqttVersion: isShared ? '5' : '3.1.1',
      ...(!isIdle && { connectsPerSecond: CONNECTS_PER_SECOND }),
    },
  };
}
