//! What cannot be verified at all.

use crate::common::{program, robust};
use rsan_model::{Model, Pc, Program, ThreadId};
use rsan_verify::{Error, Options, Property, verify};

fn refusal(text: &str, model: Model) -> Error {
    refused(&program(text), model)
}

fn refused(program: &Program, model: Model) -> Error {
    let errors = Property::ALL.map(|property| {
        let options = Options {
            property,
            ..Options::new(model)
        };
        verify(program, &options, &mut |_| {}).expect_err("it cannot be verified")
    });
    assert!(errors.iter().all(|e| *e == errors[0]));
    errors[0].clone()
}

#[test]
fn seq_cst_accesses_where_the_model_has_none() {
    let accesses = [
        "st.sc x 1",
        "ld.sc r0 x",
        "fadd.sc r0 x 1",
        "scas.sc.rlx r0 x 0 1",
        "scas.rlx.sc r0 x 0 1",
        "bcas.sc x 0 1",
        "wait.sc x 0",
    ];
    for access in accesses {
        let text = format!("st.rlx x 1 ‖ ld.rlx r1 y; {access}");
        for model in [Model::Ra, Model::Rc20] {
            let expected = Error::ScAccess {
                model,
                thread: ThreadId(1),
                pc: Pc(1),
            };
            let error = refusal(&text, model);
            assert_eq!(error, expected, "{access}");
            assert!(error.to_string().contains("c20"), "{error}");
        }
        verify(&program(&text), &Options::new(Model::C20), &mut |_| {}).expect("c20 has them");
    }
    assert_eq!(robust(&program("fence.sc; st.rlx x 1"), Model::Rc20), None);
}

#[test]
fn models_of_other_engines() {
    for model in [Model::Sc, Model::Tso, Model::Rc11] {
        let error = refusal("st.rlx x 1", model);
        assert_eq!(error, Error::Model(model));
        assert!(error.to_string().contains(model.name()), "{error}");
    }
}

#[test]
fn more_threads_than_it_takes() {
    let mut program = program("fadd.rlx r0 x 1");
    program.threads = vec![program.threads[0].clone(); 65];
    let error = refused(&program, Model::Rc20);
    assert!(matches!(error, Error::TooLarge(_)), "{error:?}");
    assert!(error.to_string().contains("65"), "{error}");
    program.threads.pop();
    assert_eq!(robust(&program, Model::Rc20), None);
}
