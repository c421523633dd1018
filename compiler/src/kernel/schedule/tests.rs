//! Knobs as texts.

use super::*;

#[test]
fn each_knob_sets_the_field_of_its_name() {
    for knob in KNOBS {
        let tried = knob.tried.iter().map(|value| (*value).to_owned());
        let values = match knob.values {
            Values::Numbers(least, most) => [least, most].map(|it| it.to_string()).to_vec(),
            Values::Words(words) => words.iter().map(|(word, _)| (*word).to_owned()).collect(),
        };
        for value in tried.chain(values) {
            let mut tuning = Tuning::AUTO;
            assert_eq!(knob.get(&tuning), None);
            assert_eq!(knob.set(&mut tuning, &value), Ok(()));
            assert_eq!(knob.get(&tuning).as_deref(), Some(value.as_str()));
            let text = tuning.to_string();
            assert_eq!(text, format!("{}={value}", knob.name));
            assert_eq!(text.parse(), Ok(tuning));
            let field = format!(" {}: Some(", knob.name.replace('-', "_"));
            assert!(format!("{tuning:?}").contains(&field), "{tuning:?}");
        }
        assert!(knob.help().len() > 10 && !knob.help().ends_with('.'));
    }
}

#[test]
fn wrong_settings_say_what_is_allowed() {
    let said = |text: &str| text.parse::<Tuning>().expect_err("a wrong setting");
    let lanes = "it is a number from 1 to 128";
    assert_eq!(
        said("lanes=129"),
        format!("`lanes` cannot be `129`: {lanes}")
    );
    assert_eq!(said("lanes"), format!("`lanes` cannot be ``: {lanes}"));
    assert_eq!(
        said("relax=true,reserve=1"),
        "`reserve` cannot be `1`: it is `false` or `true`"
    );
    let steps = "`steps-per-dispatch` cannot be `0`: it is a number of at least 1";
    assert_eq!(said("steps-per-dispatch=0"), steps);
    assert!(said("speed=11").starts_with("there is no knob `speed`, but lanes, shuffles, "));
    assert_eq!("".parse(), Ok(Tuning::AUTO));
}
