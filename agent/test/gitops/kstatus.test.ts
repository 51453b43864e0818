import { kstatus } from './kstatus.ts';
import { moments } from './moments.ts';

test.each(moments.map((moment) => [moment.kind, moment.what, moment.kstatus, moment] as const))(
  '%s, %s: kstatus says %s',
  (_kind, _what, expected, { object }) => {
    expect({ is: kstatus(object), of: object.status }).toMatchObject({ is: expected });
  },
);
