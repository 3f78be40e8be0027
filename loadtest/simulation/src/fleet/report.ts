import { quantityText, tableText, usdText } from '@apus/cost';
import { DEFAULT_SERVICE_TIMES } from '../service-times.ts';
import { RETURN_SECONDS_MAX } from './fleet.ts';
import { bufferCapacity } from './messages-away.ts';
import type { Outcome } from './outcome.ts';
import type { PlannedHandshakes } from './planned-moves.ts';
import type { FleetPrediction } from './simulate-fleet.ts';

/** A prediction for people. */
export function fleetText(prediction: FleetPrediction): string {
  const { workload, quotas, outcomes } = prediction;
  const { clients, messageEverySeconds, resumeSeconds, seed } = workload;
  return [
    `${quantityText(clients)} clients are cut at one moment; each is sent a message every ${quantityText(messageEverySeconds)} s.`,
    `A lost session can be resumed for ${quantityText(resumeSeconds)} s, and keeps ${bufferCapacity(workload)} messages meanwhile.`,
    `At most ${quantityText(quotas.newConnectionsPerSecond)} new connections and ${quantityText(quotas.stageFramesPerSecond)} frames a second; ${quantityText(quotas.lambdaConcurrency)} executions at a time.`,
    '',
    'Seconds from the cut until this share of the clients is back, and their handshakes:',
    timesText(outcomes),
    '',
    'Losses of each client, and the cost of the return:',
    lossesText(outcomes, clients),
    '',
    'Refusals and failures behind the quota of new connections:',
    refusalsText(outcomes),
    '',
    `Handshakes of a fleet that connected within ${quantityText(workload.connectedWithinSeconds)} s, a connection's life later:`,
    plannedText(prediction),
    '',
    `Assumptions: seed ${seed}; later tries wait up to 2ⁿ s, ${quantityText(workload.laterWaitSeconds)} s at least and ${quantityText(workload.reconnectSecondsMax)} s at most; a run ends after ${quantityText(RETURN_SECONDS_MAX)} s.`,
    `A hop between gateway and function takes ${DEFAULT_SERVICE_TIMES.gatewayHop.p50Ms} ms, a call on DynamoDB ${DEFAULT_SERVICE_TIMES.dynamoCall.p50Ms} ms, a cold start ${quantityText(DEFAULT_SERVICE_TIMES.coldStart.p50Ms)} ms at the median.`,
    'loadtest/results/simulation.md says what the model leaves out.',
  ].join('\n');
}

function wayCells({ way, firstWaitSeconds }: Outcome): readonly string[] {
  return [way, firstWaitSeconds === 0 ? 'none' : `0 to ${quantityText(firstWaitSeconds)} s`];
}

function timesText(outcomes: readonly Outcome[]): string {
  const head = ['way', 'first wait', '50 %', '90 %', '99 %', 'all'];
  const handshakes = ['tries, median', 'most', 'handshakes', 'refused', 'most in a second'];
  return tableText(
    [
      [...head, ...handshakes],
      ...outcomes.map((outcome) => [
        ...wayCells(outcome),
        ...Object.values(outcome.backSeconds).map(secondsText),
        quantityText(outcome.triesMedian),
        quantityText(outcome.triesMax),
        quantityText(outcome.handshakes),
        quantityText(outcome.handshakesRefused),
        quantityText(outcome.handshakesPeak),
      ]),
    ],
    2,
  );
}

function lossesText(outcomes: readonly Outcome[], clients: number): string {
  return tableText(
    [
      [
        'way',
        'first wait',
        'resumed',
        'lost, median',
        'p99',
        'clients that lost some',
        'gaps told',
        'dollars',
      ],
      ...outcomes.map((outcome) => [
        ...wayCells(outcome),
        percentText(outcome.resumed / clients),
        quantityText(outcome.lostMedian),
        quantityText(outcome.lostP99),
        percentText(outcome.lostShare),
        quantityText(outcome.gapsTold),
        usdText(outcome.usd),
      ]),
    ],
    2,
  );
}

function refusalsText(outcomes: readonly Outcome[]): string {
  return tableText(
    [
      ['way', 'first wait', 'throttled', 'no function', 'failed', 'store calls throttled'],
      ...outcomes.map((outcome) => [
        ...wayCells(outcome),
        quantityText(outcome.framesRefused),
        quantityText(outcome.framesWithoutFunction),
        quantityText(outcome.framesFailed),
        quantityText(outcome.dynamoThrottled),
      ]),
    ],
    2,
  );
}

function plannedText({ moves, cuts }: FleetPrediction): string {
  const cells = ({ peak, refused, firstSeconds, lastSeconds }: PlannedHandshakes) => [
    quantityText(peak),
    quantityText(refused),
    secondsText(firstSeconds),
    secondsText(lastSeconds),
  ];
  return tableText([
    ['', 'most in a second', 'refused', 'first, s', 'last, s'],
    ['sessions move ahead of the cut', ...cells(moves)],
    ['connections are cut for their age', ...cells(cuts)],
  ]);
}

function secondsText(seconds: number): string {
  if (!Number.isFinite(seconds)) return 'not all';
  return seconds < 10 ? seconds.toFixed(1) : quantityText(Math.round(seconds));
}

function percentText(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
