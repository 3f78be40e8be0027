import { CLIENT_PACKET_BYTES_MAX, DISCONNECT_CODE } from '@apus/aws/testing';
import { KEPT_PACKET_ID_MAX } from '@apus/broker';
import * as ofClient from '@apus/client/testing';
import { FRAME_BYTES_MAX } from '@apus/cost';
import { INLINE_SUBSCRIBERS_MAX } from '@apus/store-dynamodb/testing';
import { expect, it } from 'vitest';
import { INLINE_RECIPIENTS } from '../../loadtest/simulation/src/publishing.ts';

// The transport, the price book and the simulation depend on no package of the broker, so they repeat its limits.

it('a frame of a client is as large for the transport, and for the estimate of costs, as for the door', () => {
  expect(ofClient.FRAME_BYTES_MAX).toBe(CLIENT_PACKET_BYTES_MAX);
  expect(FRAME_BYTES_MAX).toBe(CLIENT_PACKET_BYTES_MAX);
});

it('the transport and the door mean the same by a packet identifier and by a code of the close', () => {
  expect(ofClient.KEPT_PACKET_ID_MAX).toBe(KEPT_PACKET_ID_MAX);
  expect(ofClient.DISCONNECT_CODE).toBe(DISCONNECT_CODE);
});

it('the simulated head of a filter has room for as many subscribers as that of the store', () => {
  expect(INLINE_RECIPIENTS).toBe(INLINE_SUBSCRIBERS_MAX);
});
