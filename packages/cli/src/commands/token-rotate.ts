import {
  finishRotation,
  parseSigningSecrets,
  type Rotation,
  rotateSecrets,
  secretKeys,
} from '@apus/identity';
import { CommandError } from './command.ts';
import { type Flags, UsageError, type Values } from './flags.ts';
import { operating } from './operate-flags.ts';
import { secretPlaceFrom } from './secret-place.ts';

export const ROTATE_FLAGS: Flags = {
  finish: {
    help: 'Removes the former secret: the broker then refuses the tokens that were signed with it. Do this when they have expired, or at once if the secret has leaked.',
  },
};

/** `apus token rotate`: a new secret signs, and the broker accepts the former one as long as its tokens are in use. */
export async function rotateToken(values: Values): Promise<number> {
  const place = secretPlaceFrom(values);
  const { write } = place;
  if (write === undefined)
    throw new UsageError('`apus token rotate` takes one of --secret-file, --stack and --secret-id.');
  const text = await operating(() => place.read());
  secretKeys(parseSigningSecrets(text));
  const isFinish = values.isSet('finish');
  const rotation = isFinish ? finishRotation(text) : rotateSecrets(text);
  if (isFinish && rotation.droppedKids.length === 0)
    throw new CommandError(`${place.what} is one secret: there is no former one to drop.`);
  await operating(() => write(rotation.text));
  console.log(reportOf(place.what, rotation).join('\n'));
  return 0;
}

/** The next steps. The times are those of `storedSecrets`. */
function reportOf(what: string, { kid, formerKid, droppedKids }: Rotation): string[] {
  const lines =
    formerKid === undefined
      ? [`${what} has the key "${kid}" alone.`]
      : [
          `${what} signs with the key "${kid}" from now on.`,
          'A broker reads it at the first token that is signed with it, but at most every ten seconds.',
        ];
  if (formerKid !== undefined) {
    lines.push(
      `Tokens of the key "${formerKid}" stay valid. The program that makes your tokens has to sign with the new key now, and to name it`,
      '(`kid`), as `apus token` does. When the last token of the former key has expired: `apus token rotate --finish`.',
    );
  }
  if (droppedKids.length > 0) {
    const names = droppedKids.map((each) => `"${each}"`).join(', ');
    lines.push(`Tokens of the key ${names} are refused five minutes from now at the latest.`);
  }
  return lines;
}
