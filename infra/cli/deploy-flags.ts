import { STAGE_FLAG } from './stage.ts';

/** The flags of `npm run deploy` that are no settings of the app. */
export const DEPLOY_EXTRAS = {
  stage: STAGE_FLAG,
  diff: { help: 'Shows what the deployment would change, and changes nothing.' },
  help: { help: 'Shows this text.' },
};
