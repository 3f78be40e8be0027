export {
  type Ministack,
  startMinistackService as startMinistack,
} from '../../../../test/support/ministack.ts';
