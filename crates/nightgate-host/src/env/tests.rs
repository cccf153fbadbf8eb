use super::*;

fn inherited(variables: &[(&str, &str)]) -> Inherited {
    Inherited::new(variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))))
}

/// What a developer's shell might hold, with traps.
fn shell() -> Inherited {
    inherited(&[
        ("PATH", "./bin:/home/dev/bin::/usr/bin"),
        ("HOME", "/home/dev"),
        ("USER", "dev"),
        ("LANG", "tr_TR.UTF-8"),
        ("LC_COLLATE", "tr_TR.UTF-8"),
        ("TZ", "Asia/Tokyo"),
        ("GIT_DIR", "/elsewhere"),
        ("GIT_INDEX_FILE", "/elsewhere/index"),
        ("LD_PRELOAD", "/evil.so"),
        ("NODE_OPTIONS", "--require /evil.js"),
        ("PYTHONPATH", "/evil"),
        ("RUSTC_WRAPPER", "sccache"),
        ("NIGHTGATE_HOME", "/home/dev/ng"),
        ("CLAUDECODE", "1"),
        ("SSL_CERT_FILE", "/etc/ssl/ca.pem"),
        ("SSL_CERT_DIR", "/etc/ssl/certs"),
        ("ANTHROPIC_API_KEY", "sk-1"),
        ("github_token", "gh-1"),
        ("DB_PASSWORD", "pw"),
        ("SSH_AUTH_SOCK", "/run/agent"),
        ("PROJECT_FLAVOUR", "mint"),
    ])
}

fn spec<'a>(pass: &'a [String]) -> EnvironmentSpec<'a> {
    EnvironmentSpec {
        home: "/box/home".into(),
        tmp: "/box/tmp".into(),
        path: vec!["/opt/tool/bin".into()],
        pass,
        extra: Vec::new(),
    }
}

fn names(environment: &Environment) -> Vec<&str> {
    environment.variables().map(|(name, _)| name.to_str().unwrap()).collect()
}

const COMMON: [&str; 9] = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "TERM", "TMPDIR", "TZ", "USER"];

fn with_common(more: &[&'static str]) -> Vec<&'static str> {
    let mut all: Vec<_> = COMMON.iter().chain(more).copied().collect();
    all.sort_unstable();
    all
}

#[test]
fn an_agent_has_exactly_the_listed_names() {
    let built = Environment::build(Role::Agent, &shell(), &spec(&[]));
    let more = ["SSL_CERT_DIR", "SSL_CERT_FILE"];
    assert_eq!(names(&built), with_common(&more));
}

#[test]
fn a_setup_has_exactly_the_listed_names() {
    let built = Environment::build(Role::Setup, &shell(), &spec(&[]));
    let more = ["PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "SSL_CERT_DIR", "SSL_CERT_FILE"];
    assert_eq!(names(&built), with_common(&more));
}

#[test]
fn a_check_has_exactly_the_listed_names() {
    let built = Environment::build(Role::Check, &shell(), &spec(&[]));
    let more = ["PYTHONDONTWRITEBYTECODE", "PYTHONNOUSERSITE", "PYTHONPYCACHEPREFIX"];
    assert_eq!(names(&built), with_common(&more));
    assert_eq!(built.get("PYTHONPYCACHEPREFIX"), Some(OsStr::new("/box/tmp/pycache")));
}

#[test]
fn git_has_exactly_the_listed_names() {
    let built = Environment::build(Role::Git, &shell(), &spec(&[]));
    let more = [
        "GIT_ASKPASS",
        "GIT_ATTR_NOSYSTEM",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_EDITOR",
        "GIT_NO_LAZY_FETCH",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OPTIONAL_LOCKS",
        "GIT_SEQUENCE_EDITOR",
        "GIT_TERMINAL_PROMPT",
        "SSH_ASKPASS",
    ];
    assert_eq!(names(&built), with_common(&more));
    assert_eq!(built.get("LC_ALL"), Some(OsStr::new("C")));
}

#[test]
fn a_tool_probe_has_exactly_the_listed_names() {
    assert_eq!(names(&Environment::build(Role::ToolProbe, &shell(), &spec(&[]))), with_common(&[]));
}

#[test]
fn an_empty_inherited_environment_gives_no_names_less() {
    for role in [Role::Check, Role::Git, Role::ToolProbe] {
        let bare = Environment::build(role, &Inherited::default(), &spec(&[]));
        assert_eq!(names(&bare), names(&Environment::build(role, &shell(), &spec(&[]))));
    }
}

#[test]
fn the_path_is_the_tools_and_the_systems_folders_and_nothing_inherited() {
    let mut asked = spec(&[]);
    asked.path = vec!["/opt/a".into(), "bin".into(), "".into(), "/opt/b:/opt/c".into(), "/opt/d".into()];
    let built = Environment::build(Role::Check, &shell(), &asked);
    let wanted = "/opt/a:/opt/d:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    assert_eq!(built.get("PATH"), Some(OsStr::new(wanted)));
}

#[test]
fn a_passed_name_is_copied_and_never_replaces_a_fixed_one() {
    let pass = ["PROJECT_FLAVOUR", "PATH", "HOME", "TZ", "ABSENT"].map(str::to_owned);
    let built = Environment::build(Role::Check, &shell(), &spec(&pass));
    assert_eq!(built.get("PROJECT_FLAVOUR"), Some(OsStr::new("mint")));
    assert_eq!(built.get("HOME"), Some(OsStr::new("/box/home")));
    assert_eq!(built.get("TZ"), Some(OsStr::new("UTC")));
    assert!(built.get("PATH").unwrap().as_bytes().starts_with(b"/opt/tool/bin:"));
    assert_eq!(built.get("ABSENT"), None);
}

#[test]
fn redirecting_and_lineage_names_are_never_passed() {
    let pass = ["GIT_DIR", "LD_PRELOAD", "NIGHTGATE_HOME", "CLAUDECODE", "BASH_ENV"].map(str::to_owned);
    let built = Environment::build(Role::Agent, &shell(), &spec(&pass));
    for name in &pass {
        assert_eq!(built.get(name), None, "{name}");
        assert!(!may_pass(name), "{name}");
    }
}

#[test]
fn secrets_are_withheld_by_name_unless_passed_by_their_exact_name() {
    let built = Environment::build(Role::Agent, &shell(), &spec(&[]));
    assert_eq!(built.withheld(), ["ANTHROPIC_API_KEY", "DB_PASSWORD", "github_token"]);
    let pass = ["ANTHROPIC_API_KEY".to_owned(), "GITHUB_TOKEN".to_owned()];
    let built = Environment::build(Role::Agent, &shell(), &spec(&pass));
    assert_eq!(built.get("ANTHROPIC_API_KEY"), Some(OsStr::new("sk-1")));
    assert_eq!(built.withheld(), ["DB_PASSWORD", "github_token"]);
}

#[test]
fn each_kind_of_secret_is_recognised_in_any_case() {
    for name in ["my_secret_x", "TOKENS", "Password", "passwd_file", "GOOGLE_APPLICATION_CREDENTIALS"] {
        assert!(looks_secret(name), "{name}");
    }
    for name in ["X_API_KEY", "openaiApiKey", "AWS_ACCESS_KEY_ID", "PRIVATE_KEY_PATH"] {
        assert!(looks_secret(name), "{name}");
    }
    for name in ["PATH", "KEYBOARD", "APIARY", "ACCESS"] {
        assert!(!looks_secret(name), "{name}");
    }
}

#[test]
fn extra_variables_win() {
    let mut asked = spec(&[]);
    asked.extra = vec![("GIT_DIR".into(), "/store.git".into()), ("TZ".into(), "Asia/Tokyo".into())];
    let built = Environment::build(Role::Git, &shell(), &asked);
    assert_eq!(built.get("GIT_DIR"), Some(OsStr::new("/store.git")));
    assert_eq!(built.get("TZ"), Some(OsStr::new("Asia/Tokyo")));
}

#[test]
fn a_command_starts_with_exactly_this_environment() {
    let built = Environment::build(Role::ToolProbe, &shell(), &spec(&[]));
    let mut command = Command::new("/usr/bin/env");
    built.apply(command.env("LEFT_OVER", "1"));
    let printed = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let mut seen: Vec<_> = printed.lines().map(|line| line.split('=').next().unwrap()).collect();
    seen.sort_unstable();
    assert_eq!(seen, with_common(&[]));
}

#[test]
fn the_search_path_holds_absolute_folders_once() {
    let path = inherited(&[("PATH", "./bin:/a::/b:rel:/a:")]);
    assert_eq!(path.search_path(), [PathBuf::from("/a"), PathBuf::from("/b")]);
}
