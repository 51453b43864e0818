import { type EtcdUserObject, permissionsOf } from '../objects/user-object.ts';
import { ModelEtcd, mark, user } from './users.fixture.ts';

const api = user('api', [{ prefix: '/api/', access: 'ReadWrite' }]);
const apiPermission = { access: 'ReadWrite', key: '/api/', rangeEnd: '/api0' } as const;
const enabled = (users: Record<string, string[]> = {}, roles: ConstructorParameters<typeof ModelEtcd>[1] = {}) =>
  new ModelEtcd({ root: ['root'], ...users }, roles, true);
/** As the reconciler reported it before. */
const ready = (each: EtcdUserObject): EtcdUserObject => {
  const times = { lastTransitionTime: '2026-01-01T00:00:00Z' };
  const condition = { type: 'Ready', status: 'True', reason: 'UserReady', message: '', ...times } as const;
  return { ...each, status: { conditions: [condition] } };
};
const withApi = () => enabled({ api: [mark('api')] }, { [mark('api')]: [apiPermission] });

test('without users and without a wish nothing is called, on or off', () => {
  expect(new ModelEtcd().settle({})).toEqual([]);
  expect(enabled().settle({})).toEqual([]);
});

test('the first user: root, then role and permissions, then the user, then the switch', () => {
  const etcd = new ModelEtcd();
  expect(etcd.settle({ users: [api] })).toEqual([
    'UserAdd root',
    'UserGrantRole root root',
    `RoleAdd ${mark('api')}`,
    `RoleGrantPermission ${mark('api')} ReadWrite "/api/" to "/api0"`,
    'UserAdd api',
    `UserGrantRole api ${mark('api')}`,
    'AuthEnable',
  ]);
  expect(etcd.decide({ users: [api] }).verdicts.get('uid-api')).toEqual({ kind: 'done' });
});

test('auth: true without a user switches it on; false switches it off first; nothing asked leaves it on', () => {
  const etcd = new ModelEtcd();
  expect(etcd.settle({ auth: true })).toEqual(['UserAdd root', 'UserGrantRole root root', 'AuthEnable']);
  expect(etcd.settle({})).toEqual([]);
  expect(etcd.settle({ auth: false, users: [api] })[0]).toBe('AuthDisable');
  expect(etcd.decide({ auth: false, users: [api] }).verdicts.get('uid-api')).toMatchObject({ reason: 'AuthOff' });
  expect(etcd.settle({ auth: false })).toEqual([`UserDelete api`, `RoleDelete ${mark('api')}`]);
});

describe('a version of etcd that does not enforce permissions', () => {
  const unsafe = 'etcd 3.6.11 has known vulnerabilities';
  const message = `authentication is not switched on: ${unsafe}`;

  test('authentication is not switched on, and no user is made', () => {
    const etcd = new ModelEtcd();
    expect(etcd.settle({ auth: true, unsafe })).toEqual([]);
    expect(etcd.settle({ users: [api], unsafe })).toEqual([]);
    const { verdicts, isOn } = etcd.decide({ users: [api], unsafe });
    expect([verdicts.get('uid-api'), isOn]).toEqual([{ kind: 'refused', reason: 'EtcdTooOld', message }, true]);
    expect(etcd.decide({ unsafe }).isOn).toBe(false);
    expect(etcd.settle({ users: [api] }).at(-1)).toBe('AuthEnable');
  });

  test('what is on stays on, with its users, also while something has switched it off', () => {
    const etcd = enabled();
    expect(etcd.settle({ users: [api], unsafe })).toContain(`UserGrantRole api ${mark('api')}`);
    expect(etcd.decide({ users: [api], unsafe }).verdicts.get('uid-api')).toEqual({ kind: 'done' });
    etcd.facts = { ...etcd.facts, isEnabled: false };
    expect(etcd.settle({ users: [api], unsafe, wasOn: true })).toEqual(['AuthEnable']);
    expect(etcd.settle({ auth: false, users: [api], unsafe })).toEqual(['AuthDisable']);
    // No other version of etcd would switch it on.
    expect(etcd.decide({ auth: false, users: [api], unsafe }).verdicts.get('uid-api')).toMatchObject({
      reason: 'AuthOff',
    });
  });

  test('what was never on stays off, also where somebody has made root', () => {
    const etcd = new ModelEtcd({ root: ['root'] });
    expect(etcd.settle({ auth: true, unsafe })).toEqual([]);
    expect(etcd.settle({ users: [api], unsafe })).toEqual([]);
  });
});

test('a user of somebody else that was given a role of ours keeps it as long as the EtcdUser is there, and goes on itself', () => {
  const etcd = enabled({ api: [mark('api')], bob: ['other', mark('api')] }, { [mark('api')]: [apiPermission] });
  expect(etcd.settle({ users: [api] })).toEqual([]);
  const bob = user('bob', []);
  expect(etcd.decide({ users: [api, bob] }).verdicts.get('uid-bob')).toMatchObject({ reason: 'ForeignUser' });
  expect(etcd.settle({ users: [] })).toEqual(['UserDelete api', `RoleDelete ${mark('api')}`]);
  expect(etcd.facts.users.get('bob')).toEqual(['other']);
});

test('root that has a password or another role keeps it', () => {
  expect(new ModelEtcd({ root: ['other'] }).settle({ auth: true })).toEqual(['UserGrantRole root root', 'AuthEnable']);
});

describe('drift', () => {
  test.each([
    ['a permission that is gone', [], [`RoleGrantPermission ${mark('api')} ReadWrite "/api/" to "/api0"`]],
    [
      'another access',
      [{ ...apiPermission, access: 'Read' as const }],
      [`RoleGrantPermission ${mark('api')} ReadWrite "/api/" to "/api0"`],
    ],
    [
      'a permission too many, after those that lack',
      [{ access: 'Read' as const, key: '\0', rangeEnd: '\0' }],
      [
        `RoleGrantPermission ${mark('api')} ReadWrite "/api/" to "/api0"`,
        `RoleRevokePermission ${mark('api')} Read "\\u0000" to "\\u0000"`,
      ],
    ],
  ])('%s', (_, permissions, calls) => {
    const etcd = enabled({ api: [mark('api')] }, { [mark('api')]: permissions });
    expect(etcd.decide({ users: [api] }).verdicts.get('uid-api')).toEqual({ kind: 'call' });
    expect(etcd.settle({ users: [api] })).toEqual(calls);
  });

  test('a role too many, a user that is gone, and one without its role', () => {
    const role = { [mark('api')]: [apiPermission] };
    const grant = `UserGrantRole api ${mark('api')}`;
    expect(enabled({ api: [mark('api'), 'admin'] }, role).settle({ users: [api] })).toEqual([
      'UserRevokeRole api admin',
    ]);
    expect(enabled({}, role).settle({ users: [api] })).toEqual(['UserAdd api', grant]);
    expect(enabled({ api: [] }, role).settle({ users: [api] })).toEqual(['UserDelete api', 'UserAdd api', grant]);
  });

  const wide = { ...apiPermission, access: 'ReadWrite' as const };
  const narrow = { ...apiPermission, access: 'Read' as const };

  test('a range that etcd holds twice is right if both together are what is wanted', () => {
    const etcd = enabled({ api: [mark('api')] }, { [mark('api')]: [narrow, wide] });
    expect(etcd.settle({ users: [api] })).toEqual([]);
    expect(etcd.decide({ users: [api] }).verdicts.get('uid-api')).toEqual({ kind: 'done' });
  });

  test('a range that etcd holds twice and too wide is revoked last, because both go at once', () => {
    const reader = user('api', [
      { prefix: '/api/', access: 'Read' },
      { key: '/x', access: 'Read' },
    ]);
    const etcd = enabled({ api: [mark('api')] }, { [mark('api')]: [narrow, wide] });
    expect(etcd.settle({ users: [reader] })).toEqual([
      `RoleGrantPermission ${mark('api')} Read "/x"`,
      `RoleRevokePermission ${mark('api')} Read "/api/" to "/api0"`,
      `RoleGrantPermission ${mark('api')} Read "/api/" to "/api0"`,
    ]);
  });

  test('a range that etcd holds twice and nobody wants is revoked once', () => {
    const etcd = enabled({ api: [mark('api')] }, { [mark('api')]: [narrow, wide] });
    expect(etcd.settle({ users: [user('api')] })).toEqual([
      `RoleRevokePermission ${mark('api')} Read "/api/" to "/api0"`,
    ]);
  });

  test('our role that was deleted by hand is made again, if the user was ours', () => {
    const etcd = enabled({ api: ['admin'] });
    const wanted = { users: [ready(api)] };
    expect(etcd.decide(wanted).verdicts.get('uid-api')).toEqual({ kind: 'call' });
    etcd.settle(wanted);
    expect([...etcd.facts.users]).toEqual([
      ['root', ['root']],
      ['api', [mark('api')]],
    ]);
    expect(etcd.facts.roles.get(mark('api'))).toEqual([apiPermission]);
    expect(etcd.decide(wanted).verdicts.get('uid-api')).toEqual({ kind: 'done' });
  });

  test('switched off by hand, it is on again', () => {
    const etcd = withApi();
    etcd.facts = { ...etcd.facts, isEnabled: false };
    expect(etcd.settle({ users: [api] })).toEqual(['AuthEnable']);
  });
});

test('an EtcdUser that is gone: first the user, then the role; authentication stays on', () => {
  const etcd = withApi();
  expect(etcd.settle({})).toEqual(['UserDelete api', `RoleDelete ${mark('api')}`]);
  expect(etcd.facts.isEnabled).toBe(true);
});

test('an EtcdUser that is gone before its user got the role: both go', () => {
  const etcd = enabled({ api: [] }, { [mark('api')]: [] });
  expect(etcd.settle({})).toEqual(['UserDelete api', `RoleDelete ${mark('api')}`]);
});

test('users and roles without the mark are left alone; one of the same name is taken over only without a role', () => {
  const etcd = enabled({ api: ['admin'], other: ['admin'] });
  expect(etcd.settle({ users: [api] })).toEqual([]);
  const { verdicts } = etcd.decide({ users: [api] });
  expect(verdicts.get('uid-api')).toMatchObject({ kind: 'refused', reason: 'ForeignUser' });
  // A foreign user does not switch it on.
  expect(new ModelEtcd({ api: ['admin'] }).settle({ users: [api] })).toEqual([]);
  // It may have a password, so it is made anew.
  expect(enabled({ api: [] }).settle({ users: [api] })).toEqual([
    `RoleAdd ${mark('api')}`,
    `RoleGrantPermission ${mark('api')} ReadWrite "/api/" to "/api0"`,
    'UserDelete api',
    'UserAdd api',
    `UserGrantRole api ${mark('api')}`,
  ]);
  // Its role was made before a person took the user.
  expect(enabled({ api: ['admin'] }, { [mark('api')]: [] }).settle({ users: [api] })).toEqual([
    `RoleDelete ${mark('api')}`,
  ]);
});

test('etcd 3.4 gets no users, and those that it has are left alone', () => {
  const wanted = { users: [api], minor: '3.4' };
  expect(new ModelEtcd().settle(wanted)).toEqual([]);
  expect(new ModelEtcd().decide(wanted).verdicts.get('uid-api')).toMatchObject({
    kind: 'refused',
    reason: 'EtcdTooOld',
  });
  expect(new ModelEtcd().settle({ ...wanted, auth: true })).toEqual([
    'UserAdd root',
    'UserGrantRole root root',
    'AuthEnable',
  ]);
  expect(withApi().settle(wanted)).toEqual([]);
  expect(withApi().settle({ minor: '3.4' })).toEqual(['UserDelete api', `RoleDelete ${mark('api')}`]);
  expect(
    withApi()
      .decide({ users: [api], minor: '3.5' })
      .verdicts.get('uid-api'),
  ).toEqual({ kind: 'done' });
});

test('an EtcdUser with a permission of a later release keeps what it has', () => {
  const later = user('api', [{ access: 'Read' }]);
  expect(withApi().settle({ users: [later] })).toEqual([]);
});

test('root is never deleted, whatever roles it has', () => {
  const etcd = enabled({ root: ['root', mark('root')] }, { [mark('root')]: [] });
  expect(etcd.settle({})).toEqual([`RoleDelete ${mark('root')}`]);
});

test('reserved names, and two EtcdUsers with one user', () => {
  const later = user('web', [], { userName: 'api', age: 0 });
  const users = [later, api, user('root'), user('x', [], { userName: 'orders-backup' })];
  const { verdicts } = withApi().decide({ users });
  expect(Object.fromEntries(verdicts)).toEqual({
    'uid-api': { kind: 'done' },
    'uid-web': { kind: 'refused', reason: 'NameTaken', message: expect.stringContaining('EtcdUser api') },
    'uid-root': expect.objectContaining({ reason: 'NameReserved' }),
    'uid-x': expect.objectContaining({ reason: 'NameReserved' }),
  });
  expect(withApi().settle({ users })).toEqual([]);
});

describe('a user that etcd refuses', () => {
  const other = user('web', [{ key: '/w', access: 'Read' }]);
  const failed = new Map([['api', 'no']]);

  test('does not stop another one', () => {
    const { call, verdicts } = enabled().decide({ users: [api, other] }, failed);
    expect(call).toEqual({ kind: 'RoleAdd', role: mark('web') });
    expect(verdicts.get('uid-api')).toMatchObject({ reason: 'RefusedByEtcd', message: expect.stringContaining('no') });
  });

  test('keeps authentication off, so that its clients are not shut out, but not if that is asked for', () => {
    const etcd = new ModelEtcd({ root: ['root'], web: [mark('web')] }, { [mark('web')]: permissionsOf(other)! });
    const { call, verdicts } = etcd.decide({ users: [api, other] }, failed);
    expect(call).toBeUndefined();
    expect(verdicts.get('uid-web')).toMatchObject({
      reason: 'RefusedByEtcd',
      message: expect.stringContaining('api: no'),
    });
    expect(etcd.decide({ users: [api, other], auth: true }, failed).call).toEqual({ kind: 'AuthEnable' });
  });
});

test('permissions as etcd writes them, each range once', () => {
  const all = { key: '\0', rangeEnd: '\0' };
  expect(
    permissionsOf(
      user('u', [
        { all: true, access: 'Read' },
        { all: true, access: 'Write' },
        { key: 'é', access: 'Read' },
        { prefix: 'é', access: 'Write' },
        { range: { from: 'a', to: 'c' }, access: 'Read' },
        { range: { from: 'a', to: 'c' }, access: 'Read' },
      ]),
    ),
  ).toEqual([
    { access: 'ReadWrite', ...all },
    { access: 'Read', key: '\xc3\xa9', rangeEnd: '' },
    { access: 'Write', key: '\xc3\xa9', rangeEnd: '\xc3\xaa' },
    { access: 'Read', key: 'a', rangeEnd: 'c' },
  ]);
  expect(permissionsOf(user('u', [{ access: 'Read' }]))).toBeUndefined();
});

test.each([{ prefix: '' }, { key: '' }, { range: { from: '', to: 'b' } }, { range: { from: 'a', to: '' } }])(
  'an empty text is no permission, least of all one for every key: %j',
  (keys) => {
    expect(permissionsOf(user('u', [{ ...keys, access: 'Read' }]))).toBeUndefined();
  },
);

describe('a user with a password', () => {
  const role = `password.${mark('api')}`;
  const byPassword = user('api', [{ prefix: '/api/', access: 'ReadWrite' }], { passwordSecret: 'orders-user-api' });
  const wanted = { users: [byPassword], passwords: new Map([['uid-api', 'secret']]) };
  const has = (login: 'right' | 'wrong' | 'none') => {
    const etcd = enabled({ api: [role] }, { [role]: [apiPermission] });
    etcd.facts = { ...etcd.facts, logins: new Map([['api', login]]) };
    return etcd;
  };

  test('its role says that it has one, and no call has it', () => {
    const etcd = new ModelEtcd();
    expect(etcd.settle(wanted).slice(2)).toEqual([
      `RoleAdd ${role}`,
      `RoleGrantPermission ${role} ReadWrite "/api/" to "/api0"`,
      'UserAdd api',
      `UserGrantRole api ${role}`,
      'AuthEnable',
    ]);
    const { call } = enabled({}, { [role]: [apiPermission] }).decide(wanted);
    expect(call).toEqual({ kind: 'UserAdd', user: 'api', hasPassword: true });
  });

  test('it is done only if etcd takes the password; another one is replaced, before permissions', () => {
    expect(has('right').settle(wanted)).toEqual([]);
    expect(has('right').decide(wanted).verdicts.get('uid-api')).toEqual({ kind: 'done' });
    const etcd = has('wrong');
    etcd.facts = { ...etcd.facts, roles: new Map([[role, []]]) };
    expect(etcd.settle(wanted)).toEqual([
      'UserChangePassword api',
      `RoleGrantPermission ${role} ReadWrite "/api/" to "/api0"`,
    ]);
  });

  test('somebody has made it again without a password: it is made anew, for it would never take one', () => {
    expect(has('none').settle(wanted)).toEqual(['UserDelete api', 'UserAdd api', `UserGrantRole api ${role}`]);
  });

  test('from a certificate to a password and back the user is made anew, after its new role', () => {
    const etcd = withApi();
    expect(etcd.settle(wanted)).toEqual([
      `RoleAdd ${role}`,
      `RoleGrantPermission ${role} ReadWrite "/api/" to "/api0"`,
      'UserDelete api',
      `RoleDelete ${mark('api')}`,
      'UserAdd api',
      `UserGrantRole api ${role}`,
    ]);
    // Another pass has not made it.
    etcd.facts = { ...etcd.facts, made: new Set() };
    expect(etcd.settle({ users: [api] })).toEqual([
      `RoleAdd ${mark('api')}`,
      `RoleGrantPermission ${mark('api')} ReadWrite "/api/" to "/api0"`,
      'UserDelete api',
      `RoleDelete ${role}`,
      'UserAdd api',
      `UserGrantRole api ${mark('api')}`,
    ]);
  });

  test('without its EtcdUser it is deleted with its role', () => {
    expect(has('right').settle({})).toEqual(['UserDelete api', `RoleDelete ${role}`]);
  });

  test.each(['PasswordProblem', 'SecretTaken', 'Paused'] as const)('%s: what etcd has stays as it is', (reason) => {
    const refusal = { kind: 'refused', reason, message: 'why' } as const;
    const passwords = new Map([['uid-api', refusal]]);
    for (const etcd of [has('right'), withApi()]) {
      expect(etcd.settle({ users: [byPassword], passwords })).toEqual([]);
      expect(etcd.decide({ users: [byPassword], passwords }).verdicts.get('uid-api')).toEqual(refusal);
    }
    expect(new ModelEtcd().settle({ users: [byPassword], passwords })).toEqual([]);
  });

  test('it may not be known, but is never none', () => {
    expect(
      enabled()
        .decide({ users: [byPassword] })
        .verdicts.get('uid-api'),
    ).toMatchObject({ reason: 'PasswordProblem' });
  });
});
